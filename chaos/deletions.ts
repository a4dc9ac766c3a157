import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { LostRange, SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import type { Violation } from './check/violation.ts'
import { planTurn } from './planned-turn.ts'
import type { Random } from './random.ts'
import { between, seededRandom } from './random.ts'

const RETRY_MS = 150
/** A frozen gateway answers later. */
const ANSWER_MS = 12_000
const LONGEST_PAUSE_MS = 2_500
const LONGEST_LIFE_MS = 1_500
/** How long after the last fault what was said in a deleted session is erased. */
const ERASED_MS = 20_000
/** The same when it came back with damaged data: the janitor looks once a minute. */
const ERASED_AGAIN_MS = 75_000

export interface DeletionsOptions {
  readonly seed: number
  /** Of all gateways. */
  readonly urls: readonly string[]
  /** No new session after it. */
  readonly signal: AbortSignal
}

/** Begins sessions one after another, each with one message, and deletes them with one request in mid-turn. */
export class Deletions implements Disposable {
  readonly sessions: SessionId[] = []
  /** Resolves when the last one was deleted after the signal. */
  readonly over: Promise<void>
  readonly #urls: readonly string[]
  readonly #random: Random
  readonly #closed = new AbortController()
  readonly #violations: Violation[] = []
  /** Of which the first answer to the deletion was 404; times are in epoch milliseconds. */
  readonly #unknown: { session: SessionId; begun: number; deleted: number }[] = []
  #next = 0

  constructor({ seed, urls, signal }: DeletionsOptions) {
    this.#urls = urls
    this.#random = seededRandom(seed, 'deletions')
    this.over = this.#run(signal)
    // Who waits for it learns of it; one that is closed has no end.
    this.over.catch(() => undefined)
  }

  [Symbol.dispose](): void {
    this.#closed.abort()
  }

  /** Holds that all of them are gone from the logs and for readers at every gateway. */
  async check(
    bus: Pick<Bus, 'sessions'>,
    lost: readonly LostRange[],
  ): Promise<readonly Violation[]> {
    for (const { session, begun, deleted } of this.#unknown) {
      // Its only message was lost.
      if (lost.some(({ at }) => at >= begun && at <= deleted)) continue
      this.#report(session, 'deleting it is answered with 404')
    }
    for (const session of this.sessions) {
      // What a process writes late, the janitor purges within a minute; what was said is gone before.
      const isErased = async (): Promise<boolean> =>
        (await bus.sessions.read(session, 0)).every(({ kind }) => kind !== 'input')
      const limitMs = lost.length > 0 ? ERASED_AGAIN_MS : ERASED_MS
      const options = { limitMs, what: 'an erased session' }
      if (!(await eventually(isErased, options).catch(() => false))) {
        this.#report(session, 'its log is not erased')
      }
      for (const url of this.#urls) {
        const status = await this.#ask('GET', `${url}/api/chat/session/${session}/messages`)
        if (status !== 404) this.#report(session, `reading it is answered with ${status}`)
      }
    }
    return this.#violations
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted; number++) {
      await delay(between(this.#random, 0, LONGEST_PAUSE_MS))
      const session = newSessionId()
      const begun = Date.now()
      const { message } = planTurn(this.#random, `d${number}`, 0)
      await this.#until([200], 'POST', `${session}/message`, { id: 'm0', message })
      await delay(between(this.#random, 0, LONGEST_LIFE_MS))
      const { status, tries } = await this.#until([204, 404], 'DELETE', session)
      this.sessions.push(session)
      // The answer to an earlier try may have been lost.
      if (status === 404 && tries === 1) {
        this.#unknown.push({ session, begun, deleted: Date.now() })
      }
    }
  }

  /** Asks one gateway after the other until one gives one of these answers. */
  async #until(
    statuses: readonly number[],
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; tries: number }> {
    for (let tries = 1; ; tries++) {
      const url = this.#urls[this.#next++ % this.#urls.length]
      const status = await this.#ask(method, `${url}/api/chat/session/${path}`, body)
      if (status !== undefined && statuses.includes(status)) return { status, tries }
      await delay(RETRY_MS, undefined, { signal: this.#closed.signal })
    }
  }

  /** The status of the answer; `undefined` when there is none. */
  async #ask(method: string, url: string, body?: object): Promise<number | undefined> {
    try {
      const response = await fetch(url, {
        method,
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      // Of a turn only that it has begun.
      await response.body?.cancel()
      return response.status
    } catch {
      // A gateway that dies or is frozen: the next one is asked.
      return undefined
    }
  }

  #report(where: string, detail: string): void {
    this.#violations.push({ rule: 'deleted session lives', where, detail })
  }
}
