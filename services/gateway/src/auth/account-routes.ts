import type { AccountRecord, Accounts, Invitations, Makers } from '@mcp-host/auth'
import {
  accountExists,
  AccountName,
  accountPrincipalId,
  invitationLink,
  noAccount,
} from '@mcp-host/auth'
import { BusError, PrincipalId, RoleName } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'
import type { Authenticator } from './authenticator.ts'
import type { GatewayAudit } from '../gateway-audit.ts'

const AccountAbout = z
  .object({
    name: z.string().describe('By which it logs in.'),
    principal: PrincipalId.describe('Its sessions and MCP sessions belong to this principal.'),
    roles: z.array(RoleName).describe('Decide the rights of the account.'),
    state: z
      .enum(['invited', 'active', 'disabled'])
      .describe('invited: it has no password yet. disabled: it cannot log in.'),
    createdAt: z.number().describe('Epoch milliseconds.'),
    createdBy: PrincipalId.describe('The admin; `system` for the first account.'),
  })
  .meta({ id: 'Account', description: 'An account of the host.' })

const InvitationAbout = z
  .object({
    url: z.string().describe('Page at which the password is set. Shown this once; it works once.'),
    expiresAt: z.number().describe('Epoch milliseconds.'),
  })
  .meta({ id: 'Invitation', description: 'A link for the owner of an account.' })

const NewAccount = z.object({
  name: AccountName.describe('Small letters, digits, ., _, -, @ and +. It cannot be changed.'),
  roles: z.array(RoleName).max(32).default(['user']),
})

const Changes = z
  .object({
    roles: z.array(RoleName).max(32).describe('Count at once, for tokens in use, too.').optional(),
    disabled: z
      .boolean()
      .describe('Ends its logins, tokens and link; refuses its keys and share links meanwhile.')
      .optional(),
    signOut: z
      .literal(true)
      .describe('Ends its logins and tokens. The account can log in again.')
      .optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'must have something to change')

const byName = z.object({ name: AccountName })

export interface AccountRoutesDeps {
  /** The accounts of this host; `undefined` when it has none. */
  readonly local: { readonly accounts: Accounts; readonly invitations: Invitations } | undefined
  readonly publicUrl: string
  readonly auth: Pick<Authenticator, 'makersOf'>
  readonly audit: Pick<GatewayAudit, 'accountChanged'>
}

/** The routes by which admins manage accounts. */
export function addAccountRoutes(api: Api, deps: AccountRoutesDeps): void {
  const { local, publicUrl, auth, audit } = deps
  const tags = ['auth']
  const open = () => {
    if (local !== undefined) return local
    throw new BusError('not-found', 'this host has no accounts of its own; AUTH=local adds them')
  }
  const invite = async (name: string, createdBy: string, makers: Makers) => {
    const { token, expiresAt } = await open().invitations.create(name, createdBy, makers)
    return { url: invitationLink(publicUrl, token), expiresAt }
  }

  api.get(
    '/accounts',
    {
      schema: {
        tags,
        operationId: 'listAccounts',
        summary: 'List the accounts',
        response: {
          200: jsonAnswer('All of them.', z.object({ accounts: z.array(AccountAbout) })),
          ...faults(400, 404, 503),
        },
      },
    },
    async () => ({ accounts: open().accounts.list.map(toAbout) }),
  )

  api.post(
    '/accounts',
    {
      schema: {
        tags,
        operationId: 'createAccount',
        summary: 'Create an account and a link for its owner',
        body: NewAccount,
        response: {
          201: jsonAnswer(
            'The account, and the link by which its owner sets the password.',
            AccountAbout.extend({ invitation: InvitationAbout }),
          ),
          ...faults(400, 404, 409, 413, 415, 503),
        },
      },
    },
    async ({ raw, body, principal }, reply) => {
      const { name, roles } = body
      const { accounts } = open()
      // The audit log gets no entry for a creation that is refused.
      if ((await accounts.read(name)) !== undefined) throw accountExists(name)
      await audit.accountChanged('account-created', principal, { account: name, roles })
      const account = await accounts.create({ ...body, createdBy: principal.id })
      const invitation = await invite(account.name, principal.id, auth.makersOf(raw, principal))
      return reply.code(201).send({ ...toAbout(account), invitation })
    },
  )

  api.patch(
    '/accounts/:name',
    {
      schema: {
        tags,
        operationId: 'changeAccount',
        summary: 'Change the roles of an account, disable or enable it, or log it out',
        params: byName,
        body: Changes,
        response: {
          200: jsonAnswer('As it is after that.', AccountAbout),
          ...faults(400, 404, 409, 413, 415, 503),
        },
      },
    },
    async ({ params, body, principal }) => {
      const { roles, disabled, signOut } = body
      const { accounts } = open()
      const isSignedOut = signOut === true || disabled === true
      const changes = {
        ...(roles === undefined ? {} : { roles }),
        ...(disabled === undefined ? {} : { isDisabled: disabled }),
      }
      // The audit log gets no entry for a change that is refused.
      await accounts.checkChange(params.name, changes)
      await audit.accountChanged('account-changed', principal, { account: params.name, ...body })
      return toAbout(
        isSignedOut
          ? await accounts.endLogins(params.name, changes)
          : await accounts.change(params.name, changes),
      )
    },
  )

  api.post(
    '/accounts/:name/invitation',
    {
      schema: {
        tags,
        operationId: 'inviteAccount',
        summary: 'Get another link for the owner of an account, such as for a forgotten password',
        params: byName,
        response: {
          201: jsonAnswer(
            'The link, which ends the earlier one. The password stays until it is used.',
            InvitationAbout,
          ),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ raw, params: { name }, principal }, reply) => {
      if ((await open().accounts.read(name)) === undefined) throw noAccount(name)
      await audit.accountChanged('account-invited', principal, { account: name })
      return reply.code(201).send(await invite(name, principal.id, auth.makersOf(raw, principal)))
    },
  )

  api.delete(
    '/accounts/:name/invitation',
    {
      schema: {
        tags,
        operationId: 'revokeInvitation',
        summary: 'End the link for the owner of an account',
        params: byName,
        response: {
          204: z.undefined().describe('No link of the account sets a password.'),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { name }, principal }, reply) => {
      const { accounts, invitations } = open()
      if ((await accounts.read(name)) === undefined) throw noAccount(name)
      const detail = { account: name, invitation: 'revoked' }
      await audit.accountChanged('account-changed', principal, detail)
      await invitations.revoke(name)
      return reply.code(204).send()
    },
  )
}

function toAbout(account: AccountRecord): z.infer<typeof AccountAbout> {
  const { name, roles, createdAt, createdBy, isDisabled, password } = account
  const state = isDisabled ? 'disabled' : password === undefined ? 'invited' : 'active'
  return { name, principal: accountPrincipalId(name), roles, state, createdAt, createdBy }
}
