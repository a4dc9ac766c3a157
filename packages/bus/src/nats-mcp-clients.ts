import { McpClientRecord } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey } from './bucket-key.ts'
import type { BucketWatchDeps } from './bucket-watch.ts'
import { watchBucket } from './bucket-watch.ts'
import type { McpClients, McpClientView } from './bus.ts'
import { decode, encode } from './codec.ts'
import type { StoredRecord } from './mcp-client-view.ts'
import { ClientView } from './mcp-client-view.ts'
import { isFenced, toBusError } from './nats-error.ts'

export const MCP_CLIENT_BUCKET = 'MCPCLIENTS'

const WHAT = "the client's record"

/** Limit for the tries of a change, each of which fails when another process writes first. */
const MAX_TRIES = 10

/** Records of MCP clients in a key-value bucket. */
export class NatsMcpClients implements McpClients {
  readonly #deps: BucketWatchDeps
  readonly #views = new Set<ClientView>()

  constructor(deps: BucketWatchDeps) {
    this.#deps = deps
  }

  async change(id: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void> {
    const { manager, jetstream } = this.#deps
    const subject = keySubject(MCP_CLIENT_BUCKET, id)
    for (let tries = 1; ; tries++) {
      try {
        const last = await lastOfKey(manager, MCP_CLIENT_BUCKET, id)
        const before =
          last === null || isEndMark(last) ? {} : decode(McpClientRecord, last.data, WHAT)
        const record = change(before)
        const data = encode(McpClientRecord, record, WHAT)
        const expect = { lastSubjectSequence: last?.seq ?? 0 }
        const { seq: revision } = await jetstream.publish(subject, data, { expect })
        const stored = { record, revision, bytes: data.length }
        // This process sees its change at once, before the watch delivers it.
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
    await watchBucket(this.#deps, MCP_CLIENT_BUCKET, {
      what: 'MCP clients',
      isOnlyNew: true,
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
