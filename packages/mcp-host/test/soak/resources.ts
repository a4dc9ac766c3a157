import { readdirSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Resources that a process can leak. */
export interface Resources {
  /** Processes with the mark in their environment, with any parent. */
  readonly markedProcesses: number
  readonly children: number
  readonly openFiles: number
  /** Timers and handles that keep the event loop going. */
  readonly handles: number
  /** Bytes of objects, and of buffers outside of the heap. */
  readonly heapBytes: number
  readonly residentBytes: number
}

/** The growth that is no leak: caches and compiled code fill up, memory is fragmented. */
const ALLOWED: Resources = {
  markedProcesses: 0,
  children: 0,
  openFiles: 0,
  handles: 0,
  heapBytes: 4_000_000,
  residentBytes: 100_000_000,
}

/** Measures this process after garbage collections. */
export function measure(mark: string): Resources {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  // The second collection frees the memory that buffers held outside of the heap.
  for (let count = 0; count < 2; count += 1) if (typeof collect === 'function') collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  return {
    markedProcesses: readdirSync('/proc').filter((pid) => read(`${pid}/environ`).includes(mark))
      .length,
    children: read(`self/task/${process.pid}/children`).split(' ').filter(Boolean).length,
    openFiles: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().length,
    heapBytes: heapUsed + external,
    residentBytes: rss,
  }
}

/** The resources that grew by more than is allowed. */
export function grown(before: Resources, after: Resources): string[] {
  const names = Object.keys(ALLOWED) as (keyof Resources)[]
  return names.filter((name) => after[name] > before[name] + ALLOWED[name])
}

function read(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'latin1')
  } catch {
    // Not a process, or one that has ended since.
    return ''
  }
}
