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
          last === null || isEndMark(last) ? {} : decode(McpClientRecord, last.data, subject)
        const data = encode(McpClientRecord, change(record), subject)
        const expect = { lastSubjectSequence: last?.seq ?? 0 }
        await jetstream.publish(subject, data, { expect })
        return
      } catch (error) {
        if (!isFenced(error) || tries === MAX_TRIES) throw toBusError(error, subject)
      }
    }
  }

  async watch(): Promise<McpClientView> {
    const records = new Map<string, McpClientRecord>()
    const listeners = new Listeners()
    const { bucket, warn } = this.#deps
    await watchBucket(bucket, {
      what: 'MCP clients',
      warn,
      put: ({ key, value }) => {
        records.set(key, decode(McpClientRecord, value, `MCP client ${key}`))
        listeners.call()
      },
      end: (key) => {
        records.delete(key)
        listeners.call()
      },
    })
    return { records, onChange: (listener) => listeners.add(listener) }
  }
}
