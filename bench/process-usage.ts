import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** CPU time of a process so far, in milliseconds. Linux only. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The fields after the name, which may contain spaces. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Resident memory of a process, in megabytes. Linux only. */
export function rssMb(pid: number): number {
  return readMemory(pid, /VmRSS:\s+(\d+)/)
}

/** The highest resident memory of a process so far, in megabytes. Linux only. */
export function peakRssMb(pid: number): number {
  return readMemory(pid, /VmHWM:\s+(\d+)/)
}

/** Resident memory of a process, where what it shares with others counts in part, in megabytes. Linux only. */
export function pssMb(pid: number): number {
  const [, kilobytes] =
    /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

function readMemory(pid: number, field: RegExp): number {
  const [, kilobytes] = field.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** CPU time of the whole machine so far, in ticks. Linux only. */
export interface MachineTime {
  readonly total: number
  /** Time that other virtual machines on the same hardware took. */
  readonly stolen: number
}

export function machineTime(): MachineTime {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  // The name, then user, nice, system, idle, iowait, irq, softirq, steal. Later fields are included in the first two.
  const fields = line.split(/\s+/).slice(1, 9).map(Number)
  return { total: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 }
}
