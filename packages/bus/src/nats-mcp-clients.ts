import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { McpClientRecord } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey } from './bucket-key.ts'
import { watchBucket } from './bucket-watch.ts'
import type { McpClients, McpClientView } from './bus.ts'
import { decode, encode } from './codec.ts'
import type { StoredRecord } from './mcp-client-view.ts'
import { ClientView } from './mcp-client-view.ts'
import { isFenced, toBusError } from './nats-error.ts'

export const MCP_CLIENT_BUCKET = 'MCPCLIENTS'

/** A client that was silent for longer begins anew. */
export const MCP_CLIENT_MS = 7 * 24 * 3_600_000

const WHAT = "the client's record"

/** The number of concurrent writers until one has to retry. */
const MAX_TRIES = 10

export interface McpClientsDeps {
  readonly bucket: KV
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/** Records of MCP clients in a key-value bucket. */
export class NatsMcpClients implements McpClients {
  readonly #deps: McpClientsDeps
  readonly #views = new Set<ClientView>()

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
        const stored = { record: changed, revision: seq, bytes: data.length }
        // Seen here at once, before the broker tells of it.
        for (const view of this.#views) view.put(id, stored, { isOwn: true })
        return
      } catch (error) {
        if (!isFenced(error) || tries === MAX_TRIES) throw toBusError(error, 'broker')
      }
    }
  }

  async watch(): Promise<McpClientView> {
    const view = new ClientView((id) => this.#read(id))
    this.#views.add(view)
    const { bucket, warn } = this.#deps
    await watchBucket(bucket, {
      what: 'MCP clients',
      isOnlyNew: true,
      warn,
      put: ({ key, value, revision }) => {
        const record = decode(McpClientRecord, value, `MCP client ${key}`)
        view.put(key, { record, revision, bytes: value.length })
      },
      end: (key) => view.end(key),
    })
    return view
  }

  async #read(id: string): Promise<StoredRecord | undefined> {
    try {
      const last = await lastOfKey(this.#deps.manager, MCP_CLIENT_BUCKET, id)
      if (last === null || isEndMark(last)) return undefined
      const record = decode(McpClientRecord, last.data, WHAT)
      return { record, revision: last.seq, bytes: last.data.length }
    } catch (error) {
      throw toBusError(error, 'broker')
    }
  }
}
