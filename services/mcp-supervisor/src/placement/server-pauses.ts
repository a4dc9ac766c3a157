import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { ServerPause, serverPauses } from '@mcp-host/contracts'

/** The paused servers of all supervisors: supervisors died with their calls. */
export class ServerPauses implements Disposable {
  readonly #bucket: Bucket<ServerPause>
  readonly #view: BucketView<ServerPause>
  readonly #stack = new DisposableStack()
  #timer: NodeJS.Timeout | undefined

  private constructor(bucket: Bucket<ServerPause>, view: BucketView<ServerPause>) {
    this.#bucket = bucket
    this.#view = view
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<ServerPauses> {
    const bucket = await bus.bucket(serverPauses)
    return new ServerPauses(bucket, await bucket.watch())
  }

  /** Epoch milliseconds, by the broker's clock, until which a server is paused. */
  until(server: string): number | undefined {
    const until = this.#view.records.get(server)?.until
    return until !== undefined && until > this.#bucket.now() ? until : undefined
  }

  async end(server: string): Promise<void> {
    await this.#bucket.remove(server)
  }

  /** Calls after each change, and when a pause is over. */
  follow(onChange: () => void): void {
    const next = (): void => {
      clearTimeout(this.#timer)
      const now = this.#bucket.now()
      const ends = Array.from(this.#view.records.values(), ({ until }) => until)
      const first = Math.min(...ends.filter((until) => until > now))
      if (first === Infinity) return
      this.#timer = setTimeout(update, first - now).unref()
    }
    const update = (): void => {
      next()
      onChange()
    }
    this.#stack.use(this.#view.onChange(update))
    next()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#stack.dispose()
  }
}
