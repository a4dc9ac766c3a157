import type { FollowItem } from '@mcp-host/bus'
import type { Down } from '@mcp-host/contracts'
import { QueueView } from './queue-view.ts'

type QueueFrame = Extract<Down, { type: 'queue' }>

/** The time in which changes are coalesced. A message whose turn begins at once is not reported. */
const PERIOD_MS = 100

/**
 * Tells one socket which messages wait: when it joins, if there are any, and after changes, several of them
 * at once. The last state is always told.
 */
export class QueueNotifier implements Disposable {
  readonly #view = new QueueView()
  readonly #send: (frame: QueueFrame) => void
  readonly #known = Promise.withResolvers<void>()
  #hasCaughtUp = false
  #told = ''
  #timer: NodeJS.Timeout | undefined

  constructor(send: (frame: QueueFrame) => void) {
    this.#send = send
  }

  get view(): Omit<QueueView, 'entry'> {
    return this.#view
  }

  /** Resolves when all that was stored before the socket came is known. */
  async known(): Promise<void> {
    await this.#known.promise
  }

  /** The next step of following the session. */
  item(item: FollowItem): void {
    if (item.type === 'entry') {
      this.#view.entry(item.entry)
      if (this.#hasCaughtUp) this.#schedule()
    } else if (item.type === 'caught-up' && !this.#hasCaughtUp) {
      this.#hasCaughtUp = true
      this.#known.resolve()
      this.#tell()
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#view.waiting.join() === this.#told) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tell()
    }, PERIOD_MS)
  }

  #tell(): void {
    const { waiting } = this.#view
    // Ids have no commas.
    if (waiting.join() === this.#told) return
    this.#told = waiting.join()
    const messages = waiting.map((messageId, index) => ({ messageId, position: index + 1 }))
    this.#send({ type: 'queue', payload: { messages } })
  }
}
