import { readFileSync } from 'node:fs'

/** CPU time of the whole machine so far, in ticks. Linux only. */
export interface MachineTime {
  readonly total: number
  /** What other virtual machines on the same hardware took of it. */
  readonly stolen: number
}

export function machineTime(): MachineTime {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  // After the name: user, nice, system, idle, iowait, irq, softirq, steal; what follows is in the first two.
  const fields = line.split(/\s+/).slice(1, 9).map(Number)
  return { total: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 }
}
