import { Latest } from './latest.ts'
import { Store } from './store.ts'

export interface LoaderState<Value> {
  /** `undefined` until it is read. */
  readonly value: Value | undefined
  /** Why the latest read failed. */
  readonly readFault: Error | undefined
  /** Why the last action failed. */
  readonly actionFault: Error | undefined
}

/** A value of the host, which is read again and again, also after actions. */
export class Loader<Value> {
  readonly state = new Store<LoaderState<Value>>({
    value: undefined,
    readFault: undefined,
    actionFault: undefined,
  })
  readonly #read: () => Promise<Value>
  readonly #onFault: (fault: Error) => void
  readonly #latest = new Latest()

  /** `onFault`: called for each failed read or action. */
  constructor(read: () => Promise<Value>, onFault: (fault: Error) => void) {
    this.#read = read
    this.#onFault = onFault
  }

  /** Reads the value. Never rejects; only the latest read counts. */
  readonly reload = async (): Promise<void> => {
    const isLatest = this.#latest.begin()
    try {
      const value = await this.#read()
      if (isLatest()) this.#change({ value, readFault: undefined })
    } catch (error) {
      // The fault is shown until a read succeeds.
      const readFault = this.#faultOf(error)
      if (isLatest()) this.#change({ readFault })
    }
  }

  /** Acts at the host, and reads the value again. Resolves to whether the action succeeded. */
  readonly act = async (action: () => Promise<unknown>): Promise<boolean> => {
    this.#change({ actionFault: undefined })
    try {
      await action()
    } catch (error) {
      // The fault is shown until the next action.
      this.#change({ actionFault: this.#faultOf(error) })
      return false
    }
    await this.reload()
    return true
  }

  #faultOf(error: unknown): Error {
    const fault = error instanceof Error ? error : new Error(String(error))
    this.#onFault(fault)
    return fault
  }

  #change(change: Partial<LoaderState<Value>>): void {
    this.state.set({ ...this.state.get(), ...change })
  }
}
