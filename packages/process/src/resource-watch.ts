import {
  type ProcessRow,
  readPageBytes,
  readProcess,
  readTag,
  visitProcesses,
} from './process-table.ts'

/** The period of measuring known processes. */
const MEASURE_MS = 100
/** The period of searches for new processes. */
const SEARCH_MS = 1000

/** A process group with all other processes that have its tag. */
export interface Family {
  readonly pid: number
  readonly tag: string
}

export interface Measure {
  /** Members of the last search that still run. */
  readonly members: readonly ProcessRow[]
  /** The CPU time of all members since the last measure. */
  readonly usedCpuMs: number
  readonly elapsedMs: number
  /** The memory of all members; shared memory counts more than once. */
  readonly residentBytes: number
}

interface Watched {
  readonly family: Family
  readonly onMeasure: (measure: Measure) => void
  members: readonly ProcessRow[]
  measuredAt: number
  cpuMs: number
}

/**
 * Measures families of processes from `/proc` ten times a second. The whole table is read once a second, and known
 * members in between. No timer runs without a watched family, and no timer keeps the host alive.
 */
export class ResourceWatch {
  readonly #watched = new Map<number, Watched>()
  #pageBytes: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isMeasuring = false
  #searchedAt = Number.NEGATIVE_INFINITY

  /** Calls back with every measure until disposed. */
  watch(family: Family, onMeasure: (measure: Measure) => void): Disposable {
    const watched = { family, onMeasure, members: [], measuredAt: performance.now(), cpuMs: 0 }
    this.#watched.set(family.pid, watched)
    this.#searchedAt = Number.NEGATIVE_INFINITY
    this.#schedule()
    return {
      [Symbol.dispose]: () => {
        if (this.#watched.get(family.pid) === watched) this.#watched.delete(family.pid)
        if (this.#watched.size > 0) return
        clearTimeout(this.#timer)
        this.#timer = undefined
      },
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isMeasuring || this.#watched.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#measure()
    }, MEASURE_MS).unref()
  }

  async #measure(): Promise<void> {
    this.#isMeasuring = true
    if (performance.now() - this.#searchedAt >= SEARCH_MS) await this.#search()
    this.#pageBytes ??= readPageBytes()
    for (const watched of this.#watched.values()) measure(watched, this.#pageBytes)
    this.#isMeasuring = false
    this.#schedule()
  }

  async #search(): Promise<void> {
    this.#searchedAt = performance.now()
    const all = [...this.#watched.values()]
    const byTag = new Map(all.map((one) => [one.family.tag, one]))
    const found = new Map(all.map((one) => [one, [] as ProcessRow[]]))
    await visitProcesses((pid) => {
      const row = readProcess(pid)
      // Threads of the kernel are in group 0.
      if (row === undefined || row.group === 0) return
      const watched = this.#watched.get(row.group) ?? byTag.get(readTag(pid) ?? '')
      if (watched !== undefined) found.get(watched)?.push(row)
    })
    for (const [watched, members] of found) watched.members = members
  }
}

function measure(watched: Watched, pageBytes: number): void {
  const now = performance.now()
  const members = watched.members.flatMap((member) => {
    const row = readProcess(member.pid)
    return row?.startedAt === member.startedAt ? [row] : []
  })
  const sum = (of: (row: ProcessRow) => number): number =>
    members.reduce((total, row) => total + of(row), 0)
  const cpuMs = sum((row) => row.cpuMs)
  const elapsedMs = now - watched.measuredAt
  // The sum shrinks when a process ends whose parent is not in the family.
  const usedCpuMs = Math.max(0, cpuMs - watched.cpuMs)
  Object.assign(watched, { members, measuredAt: now, cpuMs })
  const residentBytes = sum((row) => row.residentPages) * pageBytes
  watched.onMeasure({ members, usedCpuMs, elapsedMs, residentBytes })
}
