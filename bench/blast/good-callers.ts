import { setTimeout as delay } from 'node:timers/promises'
import { HttpClient } from '../mcp/http-client.ts'

/** A call that takes longer has failed. */
const CALL_LIMIT_MS = 10_000
/** Pause between two calls of one caller: short enough for a 99th percentile, long enough for other work. */
const PAUSE_MS = 5

export interface Calls {
  /** Durations in milliseconds, including failed calls. */
  readonly times: readonly number[]
  readonly faults: readonly string[]
}

/** One client for each tool, which calls it repeatedly. */
export class GoodCallers implements AsyncDisposable {
  readonly #url: string
  readonly #clients: Map<string, HttpClient>

  private constructor(url: string, clients: Map<string, HttpClient>) {
    this.#url = url
    this.#clients = clients
  }

  static async open(url: string, tools: readonly string[]): Promise<GoodCallers> {
    const open = async (tool: string) => [tool, await HttpClient.open(url, tool)] as const
    return new GoodCallers(url, new Map(await Promise.all(tools.map(open))))
  }

  /** Calls for `ms`, and waits for the last answers. */
  async callFor(ms: number): Promise<Calls> {
    const times: number[] = []
    const faults: string[] = []
    const endAt = performance.now() + ms
    const callUntilEnd = async (tool: string): Promise<void> => {
      while (performance.now() < endAt) {
        const at = performance.now()
        await this.#call(tool).catch((error: unknown) => faults.push(`${tool}: ${String(error)}`))
        times.push(performance.now() - at)
        await delay(PAUSE_MS)
      }
    }
    await Promise.all(this.#clients.keys().map(callUntilEnd))
    return { times, faults }
  }

  async #call(tool: string): Promise<void> {
    const client = this.#clients.get(tool) ?? (await HttpClient.open(this.#url, tool))
    this.#clients.set(tool, client)
    using timer = new DisposableStack()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => reject(new Error(`no answer within ${CALL_LIMIT_MS} ms`))
    timer.adopt(setTimeout(giveUp, CALL_LIMIT_MS), clearTimeout)
    try {
      await Promise.race([client.call('hello.'), late])
    } catch (error) {
      // The late answer may still arrive on its connection.
      this.#clients.delete(tool)
      void client.close()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.values().map((client) => client.close()))
  }
}
