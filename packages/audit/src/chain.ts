import { hash } from 'node:crypto'
import type { ArgumentView } from './argument-view.ts'
import type { AuditRecord, CheckpointDetail } from './audit-entry.ts'
import { CHECKPOINT } from './audit-entry.ts'

/** Of names that clients choose. */
const MAX_NAME_LENGTH = 512
/** Of a `detail` as JSON. */
const MAX_DETAIL_LENGTH = 16 * 1024

/** The hash of a stored entry, which the next entry has. */
export function entryHash(entry: string): string {
  return hash('sha256', entry, 'hex')
}

/** The entries of one writer: each has the hash of the one before. */
export class Chain {
  readonly #view: (args: unknown) => ArgumentView
  /** The second of the latest entry, and its text: many entries have it. */
  #second = { at: Number.NaN, text: '' }
  #seq = 0
  #prev: string

  constructor(writer: string, view: (args: unknown) => ArgumentView) {
    this.#view = view
    this.#prev = entryHash(writer)
  }

  /** What a checkpoint as the next entry signs off. */
  get end(): CheckpointDetail {
    return { count: this.#seq, hash: this.#prev }
  }

  /** The next entry, as it is stored. `time`: epoch milliseconds. `dropped`: entries that were lost before this one. */
  add(record: AuditRecord, time: number, { args = record.arguments, dropped = 0 } = {}): string {
    const { action, principal, roles, entrance, outcome, durationMs } = record
    const view = this.#see(args)
    const detail = action === CHECKPOINT ? this.end : limited(record.detail)
    const json = JSON.stringify({
      seq: ++this.#seq,
      prev: this.#prev,
      time: this.#timeText(time),
      action,
      principal,
      roles,
      entrance,
      session: clipped(record.session),
      server: clipped(record.server),
      tool: clipped(record.tool),
      call: clipped(record.call),
      argumentsHash: view.hash,
      argumentsLength: view.length,
      outcome,
      durationMs,
      traceId: record.traceId,
      detail,
      dropped: dropped === 0 ? undefined : dropped,
    })
    const entry = view.json === undefined ? json : `${json.slice(0, -1)},"arguments":${view.json}}`
    this.#prev = entryHash(entry)
    return entry
  }

  /** A time in ISO 8601. */
  #timeText(ms: number): string {
    const at = Math.floor(ms / 1_000)
    if (at !== this.#second.at) {
      this.#second = { at, text: new Date(at * 1_000).toISOString().slice(0, -'000Z'.length) }
    }
    return `${this.#second.text}${String(ms - at * 1_000).padStart(3, '0')}Z`
  }

  #see(args: unknown): ArgumentView {
    try {
      return this.#view(args)
    } catch {
      // Nested too deeply for JSON: no server could be sent them either.
      return {}
    }
  }
}

function clipped(name: string | undefined): string | undefined {
  return name?.slice(0, MAX_NAME_LENGTH)
}

function limited(detail: AuditRecord['detail']): AuditRecord['detail'] {
  if (detail === undefined) return undefined
  const { length } = JSON.stringify(detail)
  return length > MAX_DETAIL_LENGTH ? { omittedLength: length } : detail
}
