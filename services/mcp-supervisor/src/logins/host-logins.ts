import type { Bus } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import type { UserLogins } from '@mcp-host/upstream'
import type { SupervisorConfig } from '../config.ts'
import type { Account } from './account.ts'
import { LoginVault } from './login-vault.ts'
import { PendingLogins } from './pending-logins.ts'
import { Sealer } from './sealer.ts'

/** How the users of this host log in at servers. */
export class HostLogins {
  readonly vault: LoginVault
  readonly pending: PendingLogins
  readonly client: Omit<UserLogins, 'store' | 'login'>
  readonly #publicUrl: string

  private constructor(vault: LoginVault, pending: PendingLogins, publicUrl: string) {
    this.vault = vault
    this.pending = pending
    this.client = { redirectUrl: `${publicUrl}/connected` }
    this.#publicUrl = publicUrl
  }

  /** `undefined` when users cannot log in, since a setting for it is missing. */
  static async open(
    bus: Pick<Bus, 'bucket' | 'leases'>,
    { tokenKeys = [], publicUrl }: Pick<SupervisorConfig, 'tokenKeys' | 'publicUrl'>,
  ): Promise<HostLogins | undefined> {
    if (tokenKeys.length === 0 || publicUrl === undefined) return undefined
    const sealer = new Sealer(tokenKeys.map((key) => Buffer.from(key.open(), 'base64')))
    const opened = [LoginVault.open(bus, sealer), PendingLogins.open(bus, sealer)] as const
    const [vault, pending] = await Promise.all(opened)
    return new HostLogins(vault, pending, publicUrl)
  }

  /** What the connections of an account need. */
  of(account: Account): UserLogins {
    return { ...this.client, store: this.vault.storeOf(account) }
  }

  /** The page at which users begin a login. */
  linkTo(server: ServerName): string {
    return `${this.#publicUrl}/connect/${encodeURIComponent(server)}`
  }
}
