import { setTimeout as delay } from 'node:timers/promises'
import type { LogEntry, LostRange, SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import type { Excuse } from './check/excuses.ts'
import { excuses } from './check/excuses.ts'
import { StreamCheck } from './check/stream-check.ts'
import type { ClientOptions, Credential } from './client.ts'
import { Client } from './client.ts'
import type { PlannedTurn } from './planned-turn.ts'
import { planTurn, SERVERS } from './planned-turn.ts'
import type { Random } from './random.ts'
import { between, seededRandom } from './random.ts'

const MAX_PAUSE_MS = 2_500

export interface SessionOptions {
  readonly seed: number
  readonly number: number
  /** URLs of all gateways. */
  readonly urls: readonly string[]
  /** Headers that authenticate the principal of the session. */
  readonly headers?: Credential | undefined
  /** Ends the sending of messages. */
  readonly signal: AbortSignal
  /** Whether stored events may be lost. */
  readonly isDamaged?: boolean
  /** The MCP servers whose tools are called. */
  readonly servers?: readonly string[]
}

/** A session with a client that chats. Every third session has a second client, which only receives. */
export class ChaosSession implements Disposable {
  readonly name: string
  readonly client: Client
  /** The plans of all sent messages, by message id. */
  readonly plans = new Map<string, PlannedTurn>()
  /** The second client, once it has joined. */
  tab: Client | undefined
  turnsDone = 0
  /** Resolves when all turns have ended, after the signal. */
  readonly over: Promise<void>
  readonly #isDamaged: boolean
  readonly #servers: readonly string[]
  readonly #headers: Credential | undefined
  readonly #random: Random
  /** A separate generator, so that messages do not depend on cancels. */
  readonly #cancels: Random

  constructor({
    seed,
    number,
    urls,
    headers,
    signal,
    isDamaged = false,
    servers = SERVERS,
  }: SessionOptions) {
    this.name = `s${number}`
    this.#isDamaged = isDamaged
    this.#servers = servers
    this.#headers = headers
    this.#random = seededRandom(seed, this.name)
    this.#cancels = seededRandom(seed, `${this.name} cancels`)
    this.client = new Client({ urls, first: number, ...this.#checks(this.name) })
    this.over = this.#chat(signal)
    // If the session never begins, its turns fail and report that.
    if (number % 3 === 0) this.#join(urls, number).catch(() => undefined)
  }

  get clients(): readonly Client[] {
    return this.tab === undefined ? [this.client] : [this.client, this.tab]
  }

  /** Waits until the second client has the last event of the first. Resolves with `false` when it does not arrive. */
  async settle(limitMs: number): Promise<boolean> {
    const { tab, client } = this
    if (tab === undefined) return true
    const hasAll = (): boolean => {
      const [own, other] = this.commonEvents(client, tab)
      const isBack = [client, tab].every(({ restarts }) => restarts.at(-1)?.from !== '')
      return isBack && own.at(-1)?.id === other.at(-1)?.id
    }
    return eventually(hasAll, { limitMs }).catch(() => false)
  }

  /** The events of both clients since the newest restart of either. */
  commonEvents(client: Client, tab: Client): [SessionEvent[], SessionEvent[]] {
    const starts = [client, tab].flatMap(({ restarts }) => {
      const last = restarts.at(-1)
      return last === undefined ? [] : [parseCursor(last.from)?.seq ?? Infinity]
    })
    const from = Math.max(-1, ...starts)
    const since = ({ received, restarts }: Client): SessionEvent[] =>
      received
        .slice(restarts.at(-1)?.index ?? 0)
        .flatMap(({ event }) => ((parseCursor(event.id)?.seq ?? 0) > from ? [event] : []))
    return [since(client), since(tab)]
  }

  /** The messages whose faults are explained by reported losses. */
  excuses(log: readonly LogEntry[], lost: readonly LostRange[]): Map<string, Excuse> {
    const places = new Map<string, Set<number>>()
    for (const check of this.clients.flatMap(({ checks }) => checks)) {
      for (const [id, seqs] of check.places) {
        places.set(id, new Set([...(places.get(id) ?? []), ...seqs]))
      }
    }
    const accepted = new Map(
      Array.from(this.client.accepted, ([id, at]) => [id, performance.timeOrigin + at] as const),
    )
    const restarts = this.client.restarts.flatMap(({ from }) => parseCursor(from)?.seq ?? [])
    return excuses({ lost, log, places, accepted, restarts })
  }

  #checks(name: string): Pick<ClientOptions, 'headers' | 'check' | 'makeCheck'> {
    const check = new StreamCheck(name, this.plans)
    const makeCheck = (): StreamCheck => new StreamCheck(name, this.plans, { isJoined: true })
    return { headers: this.#headers, check, ...(this.#isDamaged ? { makeCheck } : {}) }
  }

  [Symbol.dispose](): void {
    for (const each of this.clients) each[Symbol.dispose]()
  }

  async #chat(signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted;) {
      // Sometimes a second message is queued behind the first.
      const count = this.#random() < 0.2 ? 2 : 1
      const sent = Array.from({ length: count }, async () => {
        const plan = planTurn(this.#random, this.name, number++, this.#servers)
        this.plans.set(plan.id, plan)
        if (this.#cancels() < 0.12) void this.#cancel(plan, between(this.#cancels, 0, 1_500))
        await this.client.say(plan.id, plan.message)
        this.turnsDone++
      })
      if (this.#random() < 0.15) void this.#drop(between(this.#random, 0, 1_500))
      await Promise.all(sent)
      await delay(between(this.#random, 0, MAX_PAUSE_MS))
    }
  }

  async #cancel(plan: PlannedTurn, afterMs: number): Promise<void> {
    await delay(afterMs)
    const isAccepted = (): boolean => this.client.accepted.has(plan.id)
    if (!(await eventually(isAccepted, { limitMs: 60_000 }).catch(() => false))) return
    plan.isCancelled = true
    this.client.cancel(plan.id)
  }

  async #drop(afterMs: number): Promise<void> {
    await delay(afterMs)
    this.client.drop()
  }

  async #join(urls: readonly string[], first: number): Promise<void> {
    const join = await eventually(() => this.client.start)
    const checks = this.#checks(`${this.name} (tab)`)
    this.tab = new Client({ urls, first: first + 1, ...checks, join })
  }
}
