// `npm run accounts`: creates, lists, invites and disables the accounts of a host that runs with AUTH=local.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AccountChanges } from '@mcp-host/auth'
import {
  accountExists,
  AccountName,
  Accounts,
  FIRST_ADMIN_MAKER,
  invitationLink,
  Invitations,
  isProviderUser,
  noAccount,
  rotateKeys,
} from '@mcp-host/auth'
import { BusError, hasAdminRole, LOCAL, PrincipalId, RoleName } from '@mcp-host/contracts'
import { endLoginsOf } from '@mcp-host/gateway/logins'
import { authMethods, loadConfig } from '@mcp-host/service'
import { CommandError, runCommand, UsageError } from './command-line.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { publicUrl } from './host/public-url.ts'
import { readEnv } from './host/read-env.ts'
import { runningHost } from './host/running-host.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain, plainLine } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'

const usage = `Usage: npm run accounts -- create NAME     create an account and print a link for its owner
       npm run accounts -- invite NAME     print another link, such as for a forgotten password
       npm run accounts -- revoke-link NAME   end the link of an account
       npm run accounts -- list            list the accounts
       npm run accounts -- roles NAME      give an account other roles, by --role
       npm run accounts -- disable NAME    end its logins and tokens, and refuse it from then on
       npm run accounts -- enable NAME     let it log in again
       npm run accounts -- sign-out NAME   end its logins and tokens
       npm run accounts -- rotate-keys     replace the keys that sign tokens and cookies

disable, enable and sign-out also take a user of an identity provider, as oidc:ID. Its sign-out ends the
logins of browsers alone.

  --at-once       with rotate-keys: refuse all tokens of the old keys, such as after a theft
  --role ROLE     role of the account, may be repeated; default: user. admin may do everything
  --nats URL      broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL

A link works once, for a week. Its owner sets the password there; nobody else needs to know it.
`

const COMMANDS = [
  'create',
  'invite',
  'revoke-link',
  'list',
  'roles',
  'disable',
  'enable',
  'sign-out',
  'rotate-keys',
] as const
/** The commands that also take a user of an identity provider. */
const FOR_USERS: readonly string[] = ['disable', 'enable', 'sign-out']
/** The commands that need no account name. */
const WITHOUT_NAME: readonly string[] = ['list', 'rotate-keys']

interface Options {
  readonly command: (typeof COMMANDS)[number]
  /** The name of the account; empty for a command without one. */
  readonly name: string
  /** Whether the name is the principal of a user of an identity provider, instead of an account. */
  readonly isUser: boolean
  readonly roles: readonly string[] | undefined
  readonly isAtOnce: boolean
  readonly natsUrl: string | undefined
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      role: { type: 'string', multiple: true },
      nats: { type: 'string' },
      'at-once': { type: 'boolean', default: false },
    },
  })
  if (values.help === true) return undefined
  const [word, given, ...rest] = positionals
  const command = COMMANDS.find((each) => each === word)
  if (command === undefined) {
    throw new UsageError(
      word === undefined ? 'a command is missing' : `there is no command "${word}"`,
    )
  }
  const hasName = !WITHOUT_NAME.includes(command)
  if (rest.length > 0 || (!hasName && given !== undefined)) {
    throw new UsageError(`too many words: ${positionals.join(' ')}`)
  }
  if (hasName && given === undefined) throw new UsageError(`${command}: a name is missing`)
  if (command === 'roles' && values.role === undefined) throw new UsageError('--role is missing')
  const isUser = FOR_USERS.includes(command) && isProviderUser(given ?? '')
  const schema = isUser ? PrincipalId : AccountName
  const name = hasName ? schema.safeParse(given) : { data: '' }
  if (name.data === undefined) throw new UsageError(`${given}: ${name.error?.issues[0]?.message}`)
  for (const role of values.role ?? []) {
    const { error } = RoleName.safeParse(role)
    if (error !== undefined) throw new UsageError(`--role ${role}: ${error.issues[0]?.message}`)
  }
  const { role: roles, nats: natsUrl, 'at-once': isAtOnce } = values
  return { command, name: name.data, isUser, roles, isAtOnce, natsUrl }
}

async function run({ command, name, isUser, roles, isAtOnce, natsUrl }: Options): Promise<number> {
  const root = join(import.meta.dirname, '..')
  const env = readEnv(process.env, root)
  await using bus = await connectQuietly(findBroker(env, root, natsUrl), 'accounts')
  // The settings of a running host may be those of another terminal.
  const host = natsUrl === undefined ? runningHost(env, root) : undefined
  const accounts = await Accounts.open(bus)
  const invitations = await Invitations.open(bus, accounts)
  await using audit = await openCommandAudit(bus, 'npm run accounts')
  const invite = async (): Promise<void> => {
    if ((await accounts.read(name)) === undefined) throw noAccount(name)
    await audit.record('account-invited', { account: name })
    const { token, expiresAt } = await invitations.create(name, LOCAL.id)
    const until = new Date(expiresAt).toISOString()
    process.stderr.write(plain(`the link for ${name}, which works once, until ${until}:\n`))
    process.stdout.write(`${invitationLink(host?.publicUrl ?? publicUrl(env), token)}\n`)
  }
  const create = async (given: readonly string[] = ['user']): Promise<void> => {
    const isFirstAdmin = hasAdminRole({ roles: given }) && !accounts.hasAdmin
    const createdBy = isFirstAdmin ? FIRST_ADMIN_MAKER : LOCAL.id
    const owned = isFirstAdmin && accounts.firstAdmin === undefined ? { sessionsOf: LOCAL.id } : {}
    await audit.record('account-created', { account: name, roles: given, ...owned })
    await accounts.create({ name, roles: [...given], createdBy })
    await invite()
  }
  const change = async (
    what: string,
    detail: Readonly<Record<string, unknown>>,
    act: () => Promise<unknown>,
    changes: AccountChanges = {},
  ): Promise<void> => {
    if (!isUser) await accounts.checkChange(name, changes)
    const about = isUser ? { principal: name } : { account: name }
    await audit.record('account-changed', { ...about, ...detail })
    await act()
    process.stdout.write(plain(`${name} ${what}\n`))
  }
  const endUserLogins = async (): Promise<void> => {
    process.stdout.write(`logins of browsers that ended: ${await endLoginsOf(bus, name)}\n`)
  }
  try {
    switch (command) {
      case 'create':
        if ((await accounts.read(name)) !== undefined) throw accountExists(name)
        await create(roles)
        break
      case 'invite':
        await invite()
        break
      case 'revoke-link':
        await change('has no link', { invitation: 'revoked' }, () => invitations.revoke(name))
        break
      case 'list':
        list(accounts, host?.auth ?? loadConfig({ auth: authMethods }, env).auth)
        break
      case 'roles':
        await change(
          `has the roles ${roles?.join(', ')}`,
          { roles },
          () => accounts.change(name, { roles: [...(roles ?? [])] }),
          { roles: [...(roles ?? [])] },
        )
        break
      case 'disable':
        await change(
          'is disabled',
          { disabled: true },
          () =>
            isUser
              ? accounts.disableUser(name, LOCAL.id).then(endUserLogins)
              : accounts.endLogins(name, { isDisabled: true }),
          { isDisabled: true },
        )
        break
      case 'enable':
        await change('may log in again', { disabled: false }, () =>
          isUser ? accounts.enableUser(name) : accounts.change(name, { isDisabled: false }),
        )
        break
      case 'sign-out':
        await change('is logged out everywhere', { signOut: true }, () =>
          isUser ? endUserLogins() : accounts.endLogins(name),
        )
        if (isUser) {
          process.stdout.write(
            'API keys, invitations and share links that the user made stay good, and so do tokens of the provider;\n' +
              `npm run accounts -- disable ${name} ends them\n`,
          )
        }
        break
      case 'rotate-keys': {
        await audit.record('keys-rotated', { isAtOnce })
        const key = await rotateKeys(bus, { isAtOnce })
        process.stdout.write(`key ${key} signs from now on\n`)
        break
      }
      default:
        command satisfies never
    }
  } catch (error) {
    if (!(error instanceof BusError)) throw error
    const isMissing = error.code === 'not-found'
    const hint = isMissing ? '; npm run accounts -- list shows them' : ''
    throw new CommandError(`${error.message.replace(/^name: /, '')}${hint}`, { cause: error })
  }
  return 0
}

function list(accounts: Accounts, methods: readonly string[]): void {
  if (!methods.includes('local')) {
    process.stderr.write('AUTH of this host has no "local": the accounts are not in use.\n')
  }
  if (accounts.list.length === 0) process.stdout.write('There is no account yet.\n')
  for (const { name, roles, isDisabled, password } of accounts.list) {
    const state = isDisabled ? 'disabled' : password === undefined ? 'invited' : 'active'
    const fields = [name.padEnd(24), state.padEnd(8), roles.join(',')]
    process.stdout.write(`${plainLine(fields.join('  '))}\n`)
  }
  for (const user of accounts.disabledUsers) {
    process.stdout.write(`${plainLine(user.padEnd(24))}  disabled\n`)
  }
}

stopWithLauncher()
await runCommand({ usage, parse, run })
