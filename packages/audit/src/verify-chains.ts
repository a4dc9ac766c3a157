import type { AuditEntry } from './audit-entry.ts'
import { CHECKPOINT, CheckpointDetail } from './audit-entry.ts'
import { entryHash } from './chain.ts'
import type { KeptCheckpoints } from './kept-checkpoints.ts'
import { parseEntry } from './parse-entry.ts'

/**
 * A place where a chain is broken.
 * - `changed`: the entry is not what its writer wrote.
 * - `removed`: `count` entries from `seq` on are missing.
 * - `added`: another entry of that number stands before it.
 * - `reordered`: the entry stands after a later one.
 * - `rewritten`: the entry is not the one of a checkpoint that was kept outside of the log. Told once for each writer.
 * - `cut`: `count` entries from `seq` on are missing at the end, by such a checkpoint.
 * - `unfinished`: the chain ends here without a checkpoint: the writer was killed, or its last entries were removed.
 */
export interface ChainFault {
  readonly kind: 'changed' | 'removed' | 'added' | 'reordered' | 'rewritten' | 'cut' | 'unfinished'
  readonly writer: string
  readonly seq: number
  /** Of the entry; for `removed` that of the next one; for `rewritten` and `cut` that of the checkpoint. */
  readonly time: string
  readonly count?: number
}

export interface VerifyOptions {
  readonly onFault: (fault: ChainFault) => void
  /** Whether chains may begin in the middle: older entries have expired, or are not read. */
  readonly isBeginOptional: boolean
  /** Epoch milliseconds. */
  readonly now: number
  /** Epoch milliseconds of the oldest entries that are read. */
  readonly from?: number
  readonly checkpoints?: KeptCheckpoints
}

/** A writer that lives has signed off its entries after so long. */
const SIGN_OFF_MS = 150_000

interface Gap {
  readonly from: number
  readonly to: number
  /** The hash of the last missing entry, by the entry after it. */
  readonly hash: string
  readonly time: string
}

interface ChainState {
  seq: number
  time: string
  action: string
  isRewritten: boolean
  /** Hashes of the entries with that number, one of which the next entry must have. `undefined`: any. */
  hashes: string[] | undefined
  gaps: Gap[]
}

/** Follows the chains of all writers through the log. */
export class ChainVerifier {
  readonly #options: VerifyOptions
  readonly #chains = new Map<string, ChainState>()
  #entries = 0

  constructor(options: VerifyOptions) {
    this.#options = options
  }

  get counts(): { readonly writers: number; readonly entries: number } {
    return { writers: this.#chains.size, entries: this.#entries }
  }

  /** Takes the next entry of the log. */
  take(writer: string, text: string): void {
    this.#entries++
    const entry = parseEntry(text)
    let chain = this.#chains.get(writer)
    if (chain === undefined) {
      chain = {
        seq: 0,
        time: '',
        action: '',
        isRewritten: false,
        hashes: [entryHash(writer)],
        gaps: [],
      }
      this.#chains.set(writer, chain)
      const isBegun = entry !== undefined && entry.seq > 1 && this.#options.isBeginOptional
      if (isBegun) Object.assign(chain, { seq: entry.seq - 1, hashes: undefined })
    }
    if (entry !== undefined) this.#compare(writer, chain, entry, entryHash(text))
    if (entry === undefined) this.#takeUnreadable(writer, chain)
    else if (entry.seq <= chain.seq) this.#takeLate(writer, chain, entry, entryHash(text))
    else this.#takeNext(writer, chain, entry, entryHash(text))
  }

  /** Reports what only shows at the end of the log. */
  end(): void {
    for (const [writer, { seq, time, action, gaps }] of this.#chains) {
      for (const { from, to, time: before } of gaps) {
        this.#report('removed', writer, from, before, to - from + 1)
      }
      const isOver = Date.parse(time) < this.#options.now - SIGN_OFF_MS
      if (action !== CHECKPOINT && isOver) this.#report('unfinished', writer, seq, time)
    }
    const { now, from = 0, checkpoints } = this.#options
    for (const { writer, count, time } of checkpoints?.latest ?? []) {
      const { seq = 0 } = this.#chains.get(writer) ?? {}
      // Younger entries may not be stored yet, and older ones are not read.
      const isDue = from <= Date.parse(time) && Date.parse(time) < now - SIGN_OFF_MS
      if (seq < count && isDue) this.#report('cut', writer, seq + 1, time, count - seq)
    }
  }

  #compare(writer: string, chain: ChainState, { seq }: AuditEntry, hash: string): void {
    const kept = this.#options.checkpoints?.find(writer, seq)
    if (kept === undefined || kept.hash === hash || chain.isRewritten) return
    chain.isRewritten = true
    this.#report('rewritten', writer, seq, kept.time)
  }

  #takeNext(writer: string, chain: ChainState, entry: AuditEntry, hash: string): void {
    const { seq, prev, time, action, detail } = entry
    const gap = { from: chain.seq + 1, to: seq - 1, hash: prev, time }
    if (gap.from <= gap.to) chain.gaps.push(gap)
    else if (chain.hashes?.includes(prev) === false) {
      // The first entry has nothing before it.
      this.#report('changed', writer, Math.max(1, chain.seq), chain.time || time)
    }
    if (action === CHECKPOINT) {
      const { data } = CheckpointDetail.safeParse(detail)
      if (data?.count !== seq - 1 || data.hash !== prev) {
        this.#report('changed', writer, seq, time)
      }
    }
    Object.assign(chain, { seq, time, action, hashes: [hash] })
  }

  #takeLate(writer: string, chain: ChainState, entry: AuditEntry, hash: string): void {
    const { seq, prev, time } = entry
    const gap = chain.gaps.find(({ from, to }) => from <= seq && seq <= to)
    if (gap === undefined) {
      this.#report('added', writer, seq, time)
      // The one before may be the added one.
      if (seq === chain.seq) chain.hashes?.push(hash)
      return
    }
    this.#report('reordered', writer, seq, time)
    if (seq === gap.to && hash !== gap.hash) this.#report('changed', writer, seq, time)
    const rest = [
      { ...gap, to: seq - 1, hash: prev },
      { ...gap, from: seq + 1 },
    ].filter(({ from, to }) => from <= to)
    chain.gaps = [...chain.gaps.filter((each) => each !== gap), ...rest]
  }

  /** It stands for the next entry, whatever it was. */
  #takeUnreadable(writer: string, chain: ChainState): void {
    chain.seq++
    chain.hashes = undefined
    this.#report('changed', writer, chain.seq, chain.time)
  }

  #report(
    kind: ChainFault['kind'],
    writer: string,
    seq: number,
    time: string,
    count?: number,
  ): void {
    this.#options.onFault({ kind, writer, seq, time, ...(count === undefined ? {} : { count }) })
  }
}
