import { readdirSync, readFileSync } from 'node:fs'

/** Whether a process runs; one that is dead and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** The running processes that have `text` among their arguments, shells on their way included. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isAlive(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        // It has ended since.
        return false
      }
    })
}
