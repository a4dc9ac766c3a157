import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { McpClientRecord } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey } from './bucket-key.ts'
import { watchBucket } from './bucket-watch.ts'
import type { McpClients, McpClientView } from './bus.ts'
import { decode, encode } from './codec.ts'
import { Listeners } from './listeners.ts'
import { isFenced, toBusError } from './nats-error.ts'

export const MCP_CLIENT_BUCKET = 'MCPCLIENTS'

/** A client that was silent for longer begins anew. */
export const MCP_CLIENT_MS = 7 * 24 * 3_600_000

const WHAT = "the client's record"

/** So many gateways may write at once until one of them is told to come again. */
const MAX_TRIES = 10

export interface McpClientsDeps {
  readonly bucket: KV
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/** What clients have told, in a key-value bucket. */
export class NatsMcpClients implements McpClients {
  readonly #deps: McpClientsDeps
  readonly #views = new Set<View>()

  constructor(deps: McpClientsDeps) {
    this.#deps = deps
  }

  async change(id: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void> {
    const { manager, jetstream } = this.#deps
    const subject = keySubject(MCP_CLIENT_BUCKET, id)
    for (let tries = 1; ; tries++) {
      try {
        const last = await lastOfKey(manager, MCP_CLIENT_BUCKET, id)
        const record =
          last === null || isEndMark(last) ? {} : decode(McpClientRecord, last.data, WHAT)
        const changed = change(record)
        const data = encode(McpClientRecord, changed, WHAT)
        const expect = { lastSubjectSequence: last?.seq ?? 0 }
        const { seq } = await jetstream.publish(subject, data, { expect })
        for (const view of this.#views) view.put(id, changed, seq)
        return
      } catch (error) {
        if (!isFenced(error) || tries === MAX_TRIES) throw toBusError(error, 'broker')
      }
    }
  }

  async watch(): Promise<McpClientView> {
    const view = new View()
    this.#views.add(view)
    const { bucket, warn } = this.#deps
    await watchBucket(bucket, {
      what: 'MCP clients',
      warn,
      put: ({ key, value, revision }) => {
        view.put(key, decode(McpClientRecord, value, `MCP client ${key}`), revision)
      },
      end: (key) => view.end(key),
    })
    return view
  }
}

/** What is written here is seen here at once, before the broker tells of it. */
class View implements McpClientView {
  readonly records = new Map<string, McpClientRecord>()
  readonly #revisions = new Map<string, number>()
  readonly #listeners = new Listeners()

  put(id: string, record: McpClientRecord, revision: number): void {
    if (revision <= (this.#revisions.get(id) ?? 0)) return
    this.#revisions.set(id, revision)
    this.records.set(id, record)
    this.#listeners.call()
  }

  end(id: string): void {
    this.#revisions.delete(id)
    this.records.delete(id)
    this.#listeners.call()
  }

  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener)
  }
}
