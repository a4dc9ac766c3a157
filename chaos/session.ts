import { setTimeout as delay } from 'node:timers/promises'
import type { LogEntry, LostRange, SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import type { Excuse } from './check/excuses.ts'
import { excuses } from './check/excuses.ts'
import { StreamCheck } from './check/stream-check.ts'
import type { ClientOptions } from './client.ts'
import { Client } from './client.ts'
import type { PlannedTurn } from './planned-turn.ts'
import { planTurn } from './planned-turn.ts'
import type { Random } from './random.ts'
import { between, seededRandom } from './random.ts'

const LONGEST_THOUGHT_MS = 2_500

export interface SessionOptions {
  readonly seed: number
  readonly number: number
  /** Of all gateways. */
  readonly urls: readonly string[]
  /** No new message after it. */
  readonly signal: AbortSignal
  /** Its events may be lost with damaged data. */
  readonly isDamaged?: boolean
}

/** A user who chats, and on every third session a second one who only watches. */
export class ChaosSession implements AsyncDisposable {
  readonly name: string
  readonly client: Client
  /** Everything that was said, by message. */
  readonly plans = new Map<string, PlannedTurn>()
  /** What the watcher saw, once there is one. */
  tab: Client | undefined
  turnsDone = 0
  /** Resolves when every turn of it has ended after the signal. */
  readonly over: Promise<void>
  readonly #isDamaged: boolean
  readonly #random: Random
  /** Apart from the other, so that what is said does not depend on what is cancelled. */
  readonly #moods: Random

  constructor({ seed, number, urls, signal, isDamaged = false }: SessionOptions) {
    this.name = `s${number}`
    this.#isDamaged = isDamaged
    this.#random = seededRandom(seed, this.name)
    this.#moods = seededRandom(seed, `${this.name} cancels`)
    this.client = new Client({ urls, first: number, ...this.#checks(this.name) })
    this.over = this.#chat(signal)
    // A session that never begins shows in its turns.
    if (number % 3 === 0) this.#watch(urls, number).catch(() => undefined)
  }

  get clients(): readonly Client[] {
    return this.tab === undefined ? [this.client] : [this.client, this.tab]
  }

  /** Waits until the watcher has seen as much as the user; `false` when it does not. */
  async settle(limitMs: number): Promise<boolean> {
    const { tab, client } = this
    if (tab === undefined) return true
    const hasAll = (): boolean => {
      const [own, other] = this.comparable(client, tab)
      const isBack = [client, tab].every(({ restarts }) => restarts.at(-1)?.from !== '')
      return isBack && own.at(-1)?.id === other.at(-1)?.id
    }
    return eventually(hasAll, { limitMs }).catch(() => false)
  }

  /** What both were sent since the newest start of either. */
  comparable(client: Client, tab: Client): [SessionEvent[], SessionEvent[]] {
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

  /** The messages that a reported loss explains. */
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

  #checks(name: string): Pick<ClientOptions, 'check' | 'checkAnew'> {
    const check = new StreamCheck(name, this.plans)
    const checkAnew = (): StreamCheck => new StreamCheck(name, this.plans, { isJoined: true })
    return { check, ...(this.#isDamaged ? { checkAnew } : {}) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.clients.map((each) => each[Symbol.asyncDispose]()))
  }

  async #chat(signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted;) {
      // Sometimes a second message waits for the answer to the first.
      const count = this.#random() < 0.2 ? 2 : 1
      const said = Array.from({ length: count }, async () => {
        const plan = planTurn(this.#random, this.name, number++)
        this.plans.set(plan.id, plan)
        if (this.#moods() < 0.12) void this.#cancel(plan, between(this.#moods, 0, 1_500))
        await this.client.say(plan.id, plan.message)
        this.turnsDone++
      })
      if (this.#random() < 0.15) void this.#lose(between(this.#random, 0, 1_500))
      await Promise.all(said)
      await delay(between(this.#random, 0, LONGEST_THOUGHT_MS))
    }
  }

  async #cancel(plan: PlannedTurn, afterMs: number): Promise<void> {
    await delay(afterMs)
    const isAccepted = (): boolean => this.client.accepted.has(plan.id)
    if (!(await eventually(isAccepted, { limitMs: 60_000 }).catch(() => false))) return
    plan.isCancelled = true
    this.client.cancel(plan.id)
  }

  async #lose(afterMs: number): Promise<void> {
    await delay(afterMs)
    this.client.drop()
  }

  async #watch(urls: readonly string[], first: number): Promise<void> {
    const join = await eventually(() => this.client.start)
    const checks = this.#checks(`${this.name} (tab)`)
    this.tab = new Client({ urls, first: first + 1, ...checks, join })
  }
}
