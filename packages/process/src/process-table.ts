import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The environment variable with the tag of every child and its descendants. */
export const TAG_NAME = 'MCP_HOST_PROCESS'

/** The data of `/proc` about one process. */
export interface ProcessRow {
  readonly pid: number
  /** The process group; 0 for a thread of the kernel. */
  readonly group: number
  /** One letter: `T` is paused; `Z` and `X` are dead processes that were not reaped. */
  readonly state: string
  /** The CPU time, including that of its ended children. */
  readonly cpuMs: number
  readonly residentPages: number
  /** Identifies a process together with `pid`, which may be reused. */
  readonly startedAt: string
}

/** The unit of CPU times in `/proc`. */
const TICK_MS = 10
/** The time after which a process without an environment was started without one. */
const STARTING_MS = 1000
/** The number of processes that are read between two yields to the event loop. */
const PROCESSES_PER_TURN = 64

/** Calls `visit` with every process of every user. None where there is no `/proc`. */
export async function visitProcesses(visit: (pid: number) => void): Promise<void> {
  let visited = 0
  for (const pid of listProcesses()) {
    visit(pid)
    visited += 1
    if (visited % PROCESSES_PER_TURN === 0) await nextTurn()
  }
}

/** The data of a process; `undefined` when it is gone. */
export function readProcess(pid: number): ProcessRow | undefined {
  const stat = readProc(`${pid}/stat`)
  if (stat === undefined) return undefined
  // The preceding name is in parentheses, and may contain any characters.
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
 * The tag of a process: from its environment, or that of `groupTag`. `undefined` when it has none, is gone, or has
 * overwritten the memory of its environment.
 */
export function readTag(pid: number): string | undefined {
  const environment = readProc(`${pid}/environ`)
  const name = `\0${TAG_NAME}=`
  const start = `\0${environment ?? ''}`.indexOf(name)
  // The index is one lower in the text without the leading NUL.
  return start === -1
    ? readGroupTag(pid)
    : environment?.slice(start + name.length - 1).split('\0', 1)[0]
}

/** The tag of processes that run as a user, and have one group beside that of the user. They cannot leave either. */
export function groupTag(uid: number, group: number): string {
  return `${uid}:${group}`
}

function readGroupTag(pid: number): string | undefined {
  const status = readProc(`${pid}/status`) ?? ''
  const [, uid] = /^Uid:\t(\d+)/m.exec(status) ?? []
  const [, group] = /^Groups:\t(\d+) *$/m.exec(status) ?? []
  return group === undefined ? undefined : groupTag(Number(uid), Number(group))
}

/**
 * Whether a process started in the last second and has no environment yet: between fork and the end of `execve` its
 * environment reads as empty, and a busy machine may keep it there for some milliseconds.
 */
export function isStarting(pid: number): boolean {
  if (readProc(`${pid}/environ`) !== '') return false
  const found = readProcess(pid)
  if (found === undefined || found.group === 0 || /[ZX]/.test(found.state)) return false
  return Number(found.startedAt) > nowInTicks() - STARTING_MS / TICK_MS
}

/** The last assigned id of a process or thread; 0 where there is no `/proc`. */
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

/**
 * The current time in the unit and from the origin of `startedAt`, which `/proc/uptime` does not share in every
 * container.
 */
function nowInTicks(): number {
  return Number(readProcess(process.pid)?.startedAt) + (process.uptime() * 1000) / TICK_MS
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    // `/proc` is not mounted.
    return []
  }
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'latin1')
  } catch {
    // The process has ended, is a thread of the kernel, or belongs to another user.
    return undefined
  }
}
