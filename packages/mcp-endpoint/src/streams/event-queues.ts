import { EventQueue } from './event-queue.ts'

/** Limit for the unread bytes in all queues of one principal. Beyond it, the fullest queue is abandoned. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024

interface Unread {
  bytes: number
  /** The queues that hold events. */
  readonly queues: Set<EventQueue>
}

/** The event queues of all clients. Those of one principal share a limit, so that more streams take no more memory. */
export class EventQueues {
  readonly #unread = new Map<string, Unread>()

  /** `owner`: the id of the principal. */
  open(owner: string): EventQueue {
    const queue: EventQueue = new EventQueue((change) => this.#count(owner, queue, change))
    return queue
  }

  #count(owner: string, queue: EventQueue, change: number): void {
    const unread = this.#unread.get(owner) ?? { bytes: 0, queues: new Set() }
    const { queues } = unread
    unread.bytes += change
    if (queue.bytes > 0) queues.add(queue)
    else queues.delete(queue)
    if (queues.size > 0) this.#unread.set(owner, unread)
    else this.#unread.delete(owner)
    // A single queue has its own limit.
    if (change < 0 || unread.bytes <= MAX_UNREAD_BYTES || queues.size === 1) return
    Array.from(queues)
      .reduce((fullest, each) => (each.bytes > fullest.bytes ? each : fullest))
      .abandon()
  }
}
