import type { Bus } from '@mcp-host/bus'
import {
  beginServerLogin,
  DEFAULT_LABEL,
  finishServerLogin,
  listServerLogins,
  newEnvelope,
  ServerName,
} from '@mcp-host/contracts'
import type { LoginServer, UserCall } from '@mcp-host/mcp-testkit'
import { openLoginServer } from '@mcp-host/mcp-testkit'
import type { JournalEntry } from '@mcp-host/testkit'
import { checkLogins, checkTokens } from '../check/check-logins.ts'
import type { Violation } from '../check/violation.ts'
import type { ChaosSession } from '../session.ts'
import { TOOLS } from './tool-servers.ts'

/** The name of the server in `mcp.json`. */
export const USER_SERVER = 'user'
/** Tokens are replaced all the time, so that many faults hit a replacement. */
const TTL_SECONDS = 3
/** Longer than any fault with its recovery: a killed supervisor may have used a refresh token without keeping the next. */
const LEEWAY_MS = 120_000
const CALL_MS = 200
const STEP_MS = 30_000

/** The use of the MCP server at which users log in. */
export interface LoginFigures {
  readonly users: number
  readonly calls: number
  readonly refreshes: number
}

/** The MCP server at which users log in. It runs within the process of the run, so it survives all faults. */
export class UserServer implements AsyncDisposable {
  readonly #server: LoginServer
  readonly #calls: readonly UserCall[]
  /** The principals by their users at the server. */
  readonly #principals = new Map<string, string>()

  private constructor(server: LoginServer, calls: readonly UserCall[]) {
    this.#server = server
    this.#calls = calls
  }

  static async open(): Promise<UserServer> {
    const calls: UserCall[] = []
    const server = await openLoginServer({
      tools: TOOLS,
      ttlSeconds: TTL_SECONDS,
      leewayMs: LEEWAY_MS,
      delayMs: CALL_MS,
      onCall: (call) => calls.push(call),
    })
    return new UserServer(server, calls)
  }

  /** Its entry in `mcp.json`. */
  get entry(): object {
    return this.#server.entry
  }

  /** The calls that reached it. */
  get journal(): JournalEntry[] {
    return this.#calls.map(({ tool, arguments: given }) => {
      return { tool, arguments: given, pid: process.pid }
    })
  }

  get figures(): LoginFigures {
    const { refreshes } = this.#server.issuer
    return { users: this.#principals.size, calls: this.#calls.length, refreshes }
  }

  /** Logs a principal in as a user of the server. */
  async logIn(bus: Pick<Bus, 'call'>, principal: string, user: string): Promise<void> {
    this.#principals.set(user, principal)
    const server = ServerName.parse(USER_SERVER)
    const options = { envelope: newEnvelope(principal), timeoutMs: STEP_MS }
    const browser = 'a browser'
    const begin = { server, label: DEFAULT_LABEL, browser }
    const { url } = await bus.call(beginServerLogin, {}, begin, options)
    const { search } = await this.#server.issuer.login(new URL(url), user)
    const finish = { server, query: search.slice(1), browser }
    await bus.call(finishServerLogin, {}, finish, options)
  }

  /** Checks the calls, and the logins after the last fault. */
  async check(bus: Pick<Bus, 'call'>, sessions: readonly ChaosSession[]): Promise<Violation[]> {
    const logins = await Promise.all(
      Array.from(this.#principals, async ([user, principal]) => {
        const options = { envelope: newEnvelope(principal), timeoutMs: STEP_MS }
        const { servers } = await bus.call(listServerLogins, {}, {}, options)
        const own = servers.flatMap((each) => (each.server === USER_SERVER ? each.logins : []))
        return { user, isUsable: own.some(({ isNeeded }) => !isNeeded) }
      }),
    )
    const streams = sessions.flatMap(({ name, clients }) =>
      clients.map(({ received }) => ({ name, events: received.map(({ event }) => event) })),
    )
    return [...checkTokens(this.#calls), ...checkLogins(logins, streams)]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}
