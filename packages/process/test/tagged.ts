import { once } from 'node:events'

import { onTestFinished } from 'vitest'

import { launch } from '../src/launch.ts'
import { readTag, visitProcesses } from '../src/process-table.ts'
import { openWorkspace } from '@mcp-host/mcp-testkit'

/** Starts a process with this environment, alone in its group, that sleeps. */
export function startSleeping(env: Record<string, string>): Promise<number> {
  return start(env, '/bin/sleep', '1000')
}

/** Starts a process that exits after a moment and leaves a successor of its kind in another session. */
export async function startForking(env: Record<string, string>): Promise<number> {
  // The chain of successors ends with the test, and at the latest after some seconds, because nothing could kill it.
  const workspace = await openWorkspace()
  const file = await workspace.write('keep-forking', '')
  const script = '[ -e "$1" ] && [ $2 -gt 0 ] && setsid /bin/sh -c "$0" "$0" "$1" $(($2 - 1)) &'
  const path = { PATH: '/usr/bin:/bin' }
  return start({ ...env, ...path }, '/bin/sh', '-c', script, script, file, '5000')
}

/** The processes that were started with this tag. Scans repeatedly, because a single scan can miss one. */
export async function findTagged(tag: string): Promise<number[]> {
  const found = new Set<number>()
  for (let scan = 0; scan < 20; scan += 1) {
    await visitProcesses((pid) => void (readTag(pid) === tag && found.add(pid)))
  }
  return [...found]
}

async function start(
  env: Record<string, string>,
  file: string,
  ...args: string[]
): Promise<number> {
  const child = launch(file, args, { env, stdio: 'ignore', detached: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child.pid ?? 0
}
