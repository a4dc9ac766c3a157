import type { LogEntry, SessionId, TextDelta } from '@mcp-host/contracts'
import type { Bus } from '../src/bus.ts'

/** Follows a session and collects the items. */
export class Follower {
  readonly entries: LogEntry[] = []
  readonly deltas: TextDelta[] = []
  caughtUp = 0
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(bus: Pick<Bus, 'sessions'>, session: SessionId, { after = 0, deltas = false } = {}) {
    const { signal } = this.#stop
    this.#ended = this.#run(bus.sessions.follow(session, { after, deltas, signal }))
    // stop() reports an error.
    this.#ended.catch(() => undefined)
  }

  get seqs(): number[] {
    return this.entries.map(({ seq }) => seq)
  }

  /** Settles when following ends. */
  get over(): Promise<void> {
    return this.#ended
  }

  /** Stops following; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #run(items: ReturnType<Bus['sessions']['follow']>): Promise<void> {
    for await (const item of items) {
      if (item.type === 'entry') this.entries.push(item.entry)
      else if (item.type === 'delta') this.deltas.push(item.delta)
      else if (item.type === 'caught-up') this.caughtUp++
    }
  }
}
