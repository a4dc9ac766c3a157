import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

interface Row {
  readonly pid: number
  /** Begins with `Z` or `X` for a process that is dead and waits for its parent. */
  readonly state: string
  readonly args: string
}

const hasProc = process.platform === 'linux'

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  const row = hasProc ? readRow(pid) : listByPs().find((other) => other.pid === pid)
  return row !== undefined && isRunning(row)
}

/** The running processes that have `text` among their arguments, including shells that start them. */
export function processesWith(text: string): number[] {
  return (hasProc ? listByProc() : listByPs())
    .filter((row) => row.pid !== process.pid && isRunning(row) && row.args.includes(text))
    .map(({ pid }) => pid)
}

function isRunning({ state }: Row): boolean {
  return !/^[ZX]/.test(state)
}

function listByProc(): Row[] {
  const pids = readdirSync('/proc').map(Number)
  return pids.filter((pid) => pid > 0).flatMap((pid) => readRow(pid) ?? [])
}

function readRow(pid: number): Row | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const state = stat.slice(stat.lastIndexOf(')') + 2)
    return { pid, state, args: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }
  } catch {
    // The process has ended since it was listed.
    return undefined
  }
}

/** Lists processes on macOS, which has no `/proc`. */
function listByPs(): Row[] {
  const columns = ['pid=', 'stat=', 'args='].flatMap((column) => ['-o', column])
  const lines = execFileSync('ps', ['-A', '-ww', ...columns], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, state, args] = /^ *(\d+) +(\S+) +(.*)$/.exec(line) ?? []
    return state === undefined || args === undefined ? [] : [{ pid: Number(pid), state, args }]
  })
}
