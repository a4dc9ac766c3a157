import { readFile } from 'node:fs/promises'
import { eventually } from './eventually.ts'

/** Stops a process with SIGSTOP and waits until it stands still: on another core it may run for some more milliseconds. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await eventually(async () => /\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8')), {
    what: `the pause of process ${pid}`,
  })
}
