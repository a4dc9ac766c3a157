import type { Accounts, Invitation, Invitations } from '@mcp-host/auth'
import {
  AccountName,
  FIRST_ADMIN_MAKER,
  hashPassword,
  passwordFault,
  principalOfAccount,
} from '@mcp-host/auth'
import { BusError, LOCAL } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { invitationPage } from '../pages/invitation-page.ts'
import type { MakerCheck } from '../maker-check.ts'
import type { LoginSessions } from '../session/login-sessions.ts'
import { field, HTML } from '../login/pages-scope.ts'

const GONE =
  'This link was used already, was ended, or has expired. Ask an admin of this host for another one.'

export interface InvitationRoutesDeps {
  readonly accounts: Accounts
  readonly makers: Pick<MakerCheck, 'areInOrder'>
  readonly invitations: Invitations
  readonly logins: LoginSessions
  readonly audit: Pick<GatewayAudit, 'loggedIn' | 'accountChanged'>
  /** The path to which the login with the new password leads. */
  readonly home: string
}

/** The pages behind invitation links, which set the password of an account. */
export function addInvitationRoutes(
  app: FastifyInstance,
  { accounts, makers, invitations, logins, audit, home }: InvitationRoutesDeps,
): void {
  const find = async (token: string): Promise<Invitation> => {
    // Only admins invite, so a link ends with the role of its maker, too.
    const invitation = await invitations.find(token, (each) => makers.areInOrder(each, 'admin'))
    if (invitation === undefined) throw new BusError('not-found', GONE)
    return invitation
  }

  app.get<{ Params: { token: string } }>('/invite/:token', async ({ params }, reply) => {
    const { account } = await find(params.token)
    return reply.type(HTML).send(invitationPage({ token: params.token, account }))
  })

  app.post<{ Params: { token: string } }>('/invite/:token', async ({ params, body }, reply) => {
    const invitation = await find(params.token)
    const { account } = invitation
    const typed = field(body, 'name')
    const name = account ?? AccountName.safeParse(typed).data
    const password = field(body, 'password')
    const fault =
      name === undefined
        ? 'The name must begin with a letter or digit and have only letters, digits and . _ - @ +'
        : (describePasswordFault(passwordFault(password, name)) ??
          (password === field(body, 'again') ? undefined : 'The two passwords are not the same.') ??
          (account === undefined && (await accounts.read(name)) !== undefined
            ? `There is an account ${name} already. Take another name.`
            : undefined))
    if (name === undefined || fault !== undefined) {
      const again = { token: params.token, account, name: typed, fault }
      return reply.code(400).type(HTML).send(invitationPage(again))
    }
    const hash = await hashPassword(password)
    await invitation.redeem().catch((error: unknown) => {
      throw BusError.from(error).code === 'not-found' ? new BusError('not-found', GONE) : error
    })
    const ownsLocal = account === undefined && accounts.firstAdmin === undefined
    const record =
      account === undefined
        ? await accounts.create({
            name,
            roles: ['admin'],
            createdBy: FIRST_ADMIN_MAKER,
            password: hash,
          })
        : // This ends the logins with the previous password.
          await accounts.endLogins(name, { password: hash })
    const principal = principalOfAccount(record, { method: 'session' })
    const action = account === undefined ? 'account-created' : 'account-changed'
    await audit.accountChanged(action, principal, {
      account: name,
      password: 'set',
      ...(ownsLocal ? { sessionsOf: LOCAL.id } : {}),
    })
    audit.loggedIn(principal)
    const { validFrom } = record
    reply.header('set-cookie', await logins.begin({ account: name, validFrom }))
    return reply.redirect(home, 303)
  })
}

function describePasswordFault(fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `The password ${fault}.`
}
