import type { FollowItem } from '@mcp-host/bus'
import type { Down } from '@mcp-host/contracts'
import { QueueView } from './queue-view.ts'

type QueueFrame = Extract<Down, { type: 'queue' }>

/** The time in which changes are coalesced. A message whose turn begins within it is not reported. */
const PERIOD_MS = 100

/**
 * Tells one socket which messages wait: when it joins, if there are any, and after changes. Changes are coalesced, and
 * the last state is always sent.
 */
export class QueueNotifier implements Disposable {
  readonly #view = new QueueView()
  readonly #send: (frame: QueueFrame) => void
  readonly #known = Promise.withResolvers<void>()
  #hasCaughtUp = false
  #sent = ''
  #timer: NodeJS.Timeout | undefined

  constructor(send: (frame: QueueFrame) => void) {
    this.#send = send
  }

  get view(): Omit<QueueView, 'entry'> {
    return this.#view
  }

  /** Resolves once the view has all entries that were stored before the socket joined. */
  async known(): Promise<void> {
    await this.#known.promise
  }

  /** Takes the next item of the followed session. */
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
    if (this.#timer !== undefined || this.#view.waiting.join() === this.#sent) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tell()
    }, PERIOD_MS)
  }

  #tell(): void {
    const { waiting } = this.#view
    // Ids have no commas.
    if (waiting.join() === this.#sent) return
    this.#sent = waiting.join()
    const messages = waiting.map((messageId, index) => ({ messageId, position: index + 1 }))
    this.#send({ type: 'queue', payload: { messages } })
  }
}
