import { setTimeout as delay } from 'node:timers/promises'

import { launch } from './launch.ts'
import { readProcess, visitProcesses } from './process-table.ts'

const FIRST_POLL_MS = 2
/** After this time a killed process is stuck in the kernel, and waiting is useless. */
const GONE_LIMIT_MS = 2000

/** Signals every process of the group; `false` when there is none. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  if (process.platform === 'win32') return signalTree(group, signal)
  try {
    return process.kill(-group, signal)
  } catch {
    // ESRCH: the group is empty; EPERM, on macOS: only zombies are left. Both mean that no process got the signal.
    return false
  }
}

/** Kills the rest of a group whose leader has ended, at once, and waits for its end for up to two seconds. */
export async function killRest(group: number): Promise<void> {
  if (process.platform === 'win32') return
  const deadline = performance.now() + GONE_LIMIT_MS
  for (let pollMs = FIRST_POLL_MS; signalGroup(group, 'SIGKILL'); pollMs *= 2) {
    await delay(pollMs)
    if (performance.now() > deadline || (await isDead(group))) return
  }
}

/**
 * Whether only zombies are left of a group. They still count for `kill`, and stay where process 1 does not reap them, as
 * in many containers. Always `false` without /proc.
 */
async function isDead(group: number): Promise<boolean> {
  if (process.platform !== 'linux') return false
  let isEmpty = true
  await visitProcesses((pid) => {
    const found = readProcess(pid)
    if (found?.group === group && !'ZX'.includes(found.state)) isEmpty = false
  })
  return isEmpty
}

/** Windows (untested) has no groups and no SIGTERM, but can kill a tree of processes while its root lives. */
function signalTree(pid: number, signal: NodeJS.Signals): boolean {
  if (signal !== 'SIGKILL') return false
  const args = ['/t', '/f', '/pid', String(pid)]
  const taskkill = launch('taskkill', args, { env: {}, stdio: 'ignore', detached: false })
  // The caller waits for the exit, which shows whether it worked.
  taskkill.once('error', () => undefined)
  return true
}
