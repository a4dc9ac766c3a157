import type { Bus } from '@mcp-host/bus'
import { DEFAULT_LABEL, type ServerName } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { AssertUser, UserLogins } from '@mcp-host/upstream'
import type { SupervisorConfig } from '../config.ts'
import type { Peers } from '../leases/peers.ts'
import type { Account } from './account.ts'
import { exposeLogins } from './expose-logins.ts'
import { loginEvents, type LoginEventsDeps } from './login-events.ts'
import type { AccountStore } from './login-vault.ts'
import { LoginVault } from './login-vault.ts'
import { PendingLogins } from './pending-logins.ts'
import { Registrations } from './registrations.ts'
import { Sealer } from './sealer.ts'
import { TokenInbox } from './token-inbox.ts'
import { UserAssertions } from './user-assertions.ts'

interface HostLoginsDeps extends LoginEventsDeps {
  readonly bus: Pick<Bus, 'bucket' | 'leases'>
  readonly peers: Pick<Peers, 'isGone'>
}

const FOREIGN =
  'logins at servers were sealed by a key that TOKEN_ENC_KEY does not have: put it back behind the present one, with a comma between them, or their users log in again'

/** How this host identifies itself at authorization servers. */
export type HostClient = Required<Pick<UserLogins, 'redirectUrl' | 'registrations'>>

/** How the users of this host log in at servers. */
export class HostLogins implements AsyncDisposable {
  readonly vault: LoginVault
  readonly pending: PendingLogins
  readonly #registrations: Registrations
  readonly #publicUrl: string
  readonly assertions: UserAssertions
  readonly inbox: TokenInbox

  private constructor(
    vault: LoginVault,
    pending: PendingLogins,
    registrations: Registrations,
    publicUrl: string,
    keys: readonly [Buffer, ...Buffer[]],
  ) {
    this.vault = vault
    this.pending = pending
    this.#registrations = registrations
    this.#publicUrl = publicUrl
    this.assertions = new UserAssertions(keys, publicUrl)
    this.inbox = new TokenInbox(keys)
  }

  /** `undefined` when users cannot log in, since a setting for it is missing. */
  static async open(
    { bus, metrics, peers, ...deps }: HostLoginsDeps,
    { tokenKeys = [], publicUrl }: Pick<SupervisorConfig, 'tokenKeys' | 'publicUrl'>,
  ): Promise<HostLogins | undefined> {
    const events = loginEvents({ metrics, ...deps })
    let opened: LoginVault | undefined
    exposeLogins(metrics, () => opened?.all() ?? [])
    const [key, ...oldKeys] = tokenKeys.map((secret) => Buffer.from(secret.open(), 'base64'))
    if (key === undefined || publicUrl === undefined) return undefined
    const sealer = new Sealer([key, ...oldKeys])
    const [vault, pending, registrations] = await Promise.all([
      LoginVault.open(bus, sealer, events, (supervisor) => peers.isGone(supervisor)),
      PendingLogins.open(bus, sealer),
      Registrations.open(bus, sealer),
    ])
    opened = vault
    void sealAgain(vault, deps.logger)
    const count = vault.foreign
    if (count > 0) {
      const fields = { component: 'login', action: 'open', count }
      deps.logger.warn(fields, FOREIGN)
    }
    return new HostLogins(vault, pending, registrations, publicUrl, [key, ...oldKeys])
  }

  /**
   * The client for logins at a server. Each server has a redirect address of its own, so that the answer of one
   * authorization server cannot be given for that of another.
   */
  clientOf(server: ServerName): HostClient {
    const redirectUrl = `${this.#publicUrl}/connected/${encodeURIComponent(server)}`
    return { redirectUrl, registrations: this.#registrations.of(redirectUrl) }
  }

  /** What the connections of an account need. */
  of(account: Account): HostClient & { readonly store: AccountStore; readonly assert: AssertUser } {
    return {
      ...this.clientOf(account.server),
      store: this.vault.storeOf(account),
      assert: (about) => this.assertions.sign(account.principal, about),
    }
  }

  /** The page at which users begin a login. */
  linkTo({ server, label }: Pick<Account, 'server' | 'label'>): string {
    const page = new URL(`/connect/${encodeURIComponent(server)}`, this.#publicUrl)
    if (label !== DEFAULT_LABEL) page.searchParams.set('account', label)
    return page.href
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.vault[Symbol.asyncDispose]()
  }
}

/** After a change of keys. The old one can be removed once the log says so. */
async function sealAgain(vault: LoginVault, logger: Logger): Promise<void> {
  const fields = { component: 'login', action: 'rotate' }
  try {
    const count = await vault.sealAgain()
    if (count > 0)
      logger.info({ ...fields, count }, 'all logins are sealed by the first key of TOKEN_ENC_KEY')
  } catch (err) {
    logger.error({ ...fields, err }, 'the logins still need the old keys of TOKEN_ENC_KEY')
  }
}
