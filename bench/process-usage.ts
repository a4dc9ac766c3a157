import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** CPU time of a process so far, in milliseconds; 0 once it has ended. Linux only. */
export function cpuMs(pid: number): number {
  const stat = readProcess(pid, 'stat')
  // After the name, which may contain spaces: user and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
}

/** Resident memory, in megabytes; 0 once it has ended. Linux only. */
export function rssMb(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readProcess(pid, 'status')) ?? []
  return Math.round(Number(kilobytes ?? 0) / 1024)
}

/** The command line of a process; empty once it has ended. Linux only. */
export const commandOf = (pid: number): string => readProcess(pid, 'cmdline').replaceAll('\0', ' ')

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
