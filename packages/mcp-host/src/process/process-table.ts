import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'

/** The environment variable with the mark of every child and its descendants. */
export const TAG_NAME = 'MCP_HOST_PROCESS'

/** Linux's data about one process. */
export interface ProcessRow {
  readonly pid: number
  /** The process group; 0 for a thread of the kernel. */
  readonly group: number
  /** One letter: `T` is paused; `Z` and `X` are dead, and wait for the parent to hear of it. */
  readonly state: string
  /** That of its children is added when they have ended. */
  readonly cpuMs: number
  readonly residentPages: number
  /** With `pid`, tells a process from a later one of the same number. */
  readonly startedAt: string
}

/** `/proc` counts in hundredths of a second whatever the kernel itself does. */
const TICK_MS = 10
/** Processes read between two yields to the event loop: reading is quick but blocks. */
const PROCESSES_PER_TURN = 64

/** Calls `visit` with every process of every user. None where there is no `/proc`. */
export async function visitProcesses(visit: (pid: number) => void): Promise<void> {
  let visited = 0
  for (const pid of listProcesses()) {
    visit(pid)
    visited += 1
    if (visited % PROCESSES_PER_TURN === 0) await breathe()
  }
}

/** `undefined` for a process that is gone. */
export function readProcess(pid: number): ProcessRow | undefined {
  const stat = readProc(`${pid}/stat`)
  if (stat === undefined) return undefined
  // The name before it stands in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const number = (index: number): number => Number(fields[index])
  return {
    pid,
    group: number(2),
    state: fields[0] ?? '',
    cpuMs: (number(11) + number(12) + number(13) + number(14)) * TICK_MS,
    residentPages: number(21),
    startedAt: fields[19] ?? '',
  }
}

/**
 * The tag that a process was started with. `undefined` for one without, that is gone, that belongs
 * to another user or that has overwritten the memory of its environment.
 */
export function readTag(pid: number): string | undefined {
  const environment = readProc(`${pid}/environ`)
  const name = `\0${TAG_NAME}=`
  const start = `\0${environment ?? ''}`.indexOf(name)
  // The index is one lower in the text without the leading NUL.
  return start === -1 ? undefined : environment?.slice(start + name.length - 1).split('\0', 1)[0]
}

/** The number given out last, to a process or a thread; 0 where there is no `/proc`. */
export function readNewestPid(): number {
  return Number(readProc('loadavg')?.trim().split(' ').at(-1) ?? 0)
}

/** The unit of `residentPages`, in bytes. */
export function readPageBytes(): number {
  const PAGE_SIZE = 6n
  const words = new BigUint64Array(new Uint8Array(readFileSync('/proc/self/auxv')).buffer)
  const index = words.findIndex((word, at) => at % 2 === 0 && word === PAGE_SIZE)
  return Number(words[index + 1])
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    // Not mounted: nothing can be found.
    return []
  }
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'latin1')
  } catch {
    // It has ended, is a thread of the kernel, or belongs to another user.
    return undefined
  }
}
