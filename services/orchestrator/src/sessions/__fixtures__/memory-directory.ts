import type { DirectoryView, PutRecordOptions, SessionDirectory } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The records of sessions, in memory. */
export class MemoryDirectory implements SessionDirectory, DirectoryView {
  readonly records = new Map<SessionId, SessionRecord>()
  readonly options: PutRecordOptions[] = []
  readonly #revisions = new Map<SessionId, number>()
  /** Runs once, before the next write, in place of another process. */
  concurrentWrite: (() => Promise<unknown>) | undefined

  async get(session: SessionId): Promise<{ record: SessionRecord; revision: number } | undefined> {
    const record = this.records.get(session)
    return record && { record, revision: this.#revisions.get(session) ?? 0 }
  }

  async put(record: SessionRecord, options: PutRecordOptions = {}): Promise<number> {
    const { concurrentWrite } = this
    this.concurrentWrite = undefined
    await concurrentWrite?.()
    const last = this.#revisions.get(record.id) ?? 0
    if (options.revision !== undefined && options.revision !== last) {
      throw new BusError('conflict', 'another wrote')
    }
    this.options.push(options)
    this.records.set(record.id, record)
    this.#revisions.set(record.id, last + 1)
    return last + 1
  }

  async remove(session: SessionId): Promise<void> {
    this.records.delete(session)
    this.#revisions.delete(session)
  }

  watch(): Promise<DirectoryView> {
    return Promise.resolve(this)
  }
}
