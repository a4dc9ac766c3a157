/** The part of an `AbortSignal` that requests need. */
export type CancelSignal = Pick<AbortSignal, 'aborted' | 'reason' | 'throwIfAborted'> & {
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

type Listener = () => void

/**
 * An `AbortController` and its signal in one. Every request needs one or two, and a real `AbortController` takes more
 * memory than the rest of the request.
 */
export class Cancellation implements CancelSignal {
  aborted = false
  reason: unknown
  #listeners: readonly Listener[] = NONE

  cancel(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of this.#listeners) listener()
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(_: 'abort', listener: Listener): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    this.#listeners = this.#listeners.filter((each) => each !== listener)
  }
}

/** Adapter for APIs that require a real `AbortSignal`. Lives as long as `signal`. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return controller.signal
}

const NONE: readonly Listener[] = []
