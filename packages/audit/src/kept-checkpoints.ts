import { z } from 'zod'
import { CheckpointDetail } from './audit-entry.ts'

/** A checkpoint as services keep it outside of the audit log. */
const KeptCheckpoint = CheckpointDetail.extend({ time: z.iso.datetime(), writer: z.string() })
type KeptCheckpoint = z.infer<typeof KeptCheckpoint>

/** The checkpoints of all writers, which were kept outside of the audit log. */
export class KeptCheckpoints {
  readonly #byWriter = new Map<string, Map<number, KeptCheckpoint>>()

  get count(): number {
    return this.#byWriter.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** Takes a line of a file. Returns `false` when it is no checkpoint. */
  add(line: string): boolean {
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      // The process ended while it wrote the line, or the file was changed.
      return false
    }
    const { data } = KeptCheckpoint.safeParse(json)
    if (data === undefined) return false
    const own = this.#byWriter.get(data.writer) ?? new Map<number, KeptCheckpoint>()
    this.#byWriter.set(data.writer, own.set(data.count, data))
    return true
  }

  /** The checkpoint that has the hash of an entry. */
  find(writer: string, seq: number): KeptCheckpoint | undefined {
    return this.#byWriter.get(writer)?.get(seq)
  }

  /** The checkpoint of each writer with the most entries. */
  get latest(): KeptCheckpoint[] {
    return Array.from(this.#byWriter.values(), (own) =>
      Array.from(own.values()).reduce((one, other) => (other.count > one.count ? other : one)),
    )
  }
}
