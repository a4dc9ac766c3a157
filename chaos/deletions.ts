import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { LostRange } from '@mcp-host/contracts'
import { SessionId } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import { z } from 'zod'
import type { Credential } from './client.ts'
import type { Violation } from './check/violation.ts'
import { planTurn } from './planned-turn.ts'
import type { Random } from './random.ts'
import { between, seededRandom } from './random.ts'

const RETRY_MS = 150
/** Limit for one request. A frozen gateway exceeds it. */
const ANSWER_MS = 12_000
const MAX_PAUSE_MS = 2_500
const MAX_LIFE_MS = 1_500
/** Time after the last fault within which the messages of a deleted session are erased. */
const ERASED_MS = 20_000
/** The same after damage, which can restore a session. The janitor runs once a minute. */
const ERASED_AGAIN_MS = 75_000

const Created = z.object({ sessionId: SessionId })

export interface DeletionsOptions {
  readonly seed: number
  /** URLs of all gateways. */
  readonly urls: readonly string[]
  /** Headers that authenticate the principal of the sessions. */
  readonly headers?: Credential | undefined
  /** Ends the creation of sessions. */
  readonly signal: AbortSignal
}

/** Creates sessions with one message each, and deletes them while their turn is running. */
export class Deletions implements Disposable {
  readonly sessions: SessionId[] = []
  /** Resolves when the last session is deleted, after the signal. */
  readonly over: Promise<void>
  readonly #urls: readonly string[]
  readonly #headers: Credential
  readonly #random: Random
  readonly #closed = new AbortController()
  readonly #violations: Violation[] = []
  /** Sessions whose first deletion was answered with 404. Times are in epoch milliseconds. */
  readonly #unknown: { session: SessionId; begun: number; deleted: number }[] = []
  #next = 0

  constructor({ seed, urls, headers = {}, signal }: DeletionsOptions) {
    this.#urls = urls
    this.#headers = headers
    this.#random = seededRandom(seed, 'deletions')
    this.over = this.#run(signal)
    // Callers of `over` see the error. A disposed run has no end.
    this.over.catch(() => undefined)
  }

  [Symbol.dispose](): void {
    this.#closed.abort()
  }

  /** Checks that the sessions are erased from the log, and unknown to every gateway. */
  async check(
    bus: Pick<Bus, 'sessions'>,
    lost: readonly LostRange[],
  ): Promise<readonly Violation[]> {
    const losses = this.#unknown.map(({ session, begun, deleted }) => {
      // Its only message may be in the loss.
      if (lost.some(({ at }) => at >= begun && at <= deleted)) return session
      this.#report(session, 'deleting it is answered with 404')
      return undefined
    })
    for (const session of this.sessions) {
      // Nothing was deleted. Its turn may have run on, and stored entries after the loss.
      if (losses.includes(session)) continue
      // Messages are erased at once. The janitor purges late entries of other kinds within a minute.
      const isErased = async (): Promise<boolean> =>
        (await bus.sessions.read(session, 0)).every(({ kind }) => kind !== 'input')
      const limitMs = lost.length > 0 ? ERASED_AGAIN_MS : ERASED_MS
      const options = { limitMs, what: 'an erased session' }
      if (!(await eventually(isErased, options).catch(() => false))) {
        this.#report(session, 'its log is not erased')
      }
      for (const url of this.#urls) {
        const status = await this.#request('GET', `${url}/api/chat/session/${session}/messages`)
        if (status !== 404) this.#report(session, `reading it is answered with ${status}`)
      }
    }
    return this.#violations
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted; number++) {
      await delay(between(this.#random, 0, MAX_PAUSE_MS))
      const session = await this.#create()
      const begun = Date.now()
      const { message } = planTurn(this.#random, `d${number}`, 0)
      await this.#requestUntil([200], 'POST', `${session}/message`, { id: 'm0', message })
      await delay(between(this.#random, 0, MAX_LIFE_MS))
      const { status, tries } = await this.#requestUntil([204, 404], 'DELETE', session)
      this.sessions.push(session)
      // On a retry, the answer to an earlier deletion may have been lost.
      if (status === 404 && tries === 1) {
        this.#unknown.push({ session, begun, deleted: Date.now() })
      }
    }
  }

  /** The id of a session, which gateways sign for its principal. */
  async #create(): Promise<SessionId> {
    for (;;) {
      const url = this.#urls[this.#next++ % this.#urls.length]
      try {
        const response = await this.#fetch('POST', `${url}/api/chat/session`, {})
        return Created.parse(await response.json()).sessionId
      } catch {
        await delay(RETRY_MS, undefined, { signal: this.#closed.signal })
      }
    }
  }

  /** Sends a request to the gateways in turn until one answers with one of the statuses. */
  async #requestUntil(
    statuses: readonly number[],
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; tries: number }> {
    for (let tries = 1; ; tries++) {
      const url = this.#urls[this.#next++ % this.#urls.length]
      const status = await this.#request(method, `${url}/api/chat/session/${path}`, body)
      if (status !== undefined && statuses.includes(status)) return { status, tries }
      await delay(RETRY_MS, undefined, { signal: this.#closed.signal })
    }
  }

  /** Resolves with the status of the answer, or `undefined` without one. */
  async #request(method: string, url: string, body?: object): Promise<number | undefined> {
    try {
      const response = await this.#fetch(method, url, body)
      // The events of the turn are not read.
      await response.body?.cancel()
      return response.status
    } catch {
      // The gateway is dead or frozen. The next one is tried.
      return undefined
    }
  }

  #fetch(method: string, url: string, body?: object): Promise<Response> {
    return fetch(url, {
      method,
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
  }

  #report(where: string, detail: string): void {
    this.#violations.push({ rule: 'deleted session lives', where, detail })
  }
}
