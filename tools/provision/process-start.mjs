import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When a process began, as a text that no other process with its pid has, also not after a reboot. `undefined`
 * where that cannot be found out.
 */
export function processStart(pid) {
  return process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid)
}

function startOnLinux(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22 in ticks since the boot; the name before it may hold spaces and parentheses.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}-${ticks}`
  } catch {
    // The process has ended, or /proc is not mounted: the caller then compares the pid alone.
    return undefined
  }
}

function startByPs(pid) {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    return started.trim().replaceAll(/\s+/g, '-') || undefined
  } catch {
    // The process has ended, or there is no `ps`: the caller then compares the pid alone.
    return undefined
  }
}
