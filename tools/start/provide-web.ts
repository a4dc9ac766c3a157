import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../provision/run-command.mjs'
import { root } from '../root.ts'

/** Builds the web UI into a folder of `webFolder` unless it is there. Vite takes memory, so a process of its own does it. */
export async function provideWeb(folder: string, signal: AbortSignal): Promise<void> {
  if (existsSync(folder)) return
  const program = join(root, 'tools', 'web', 'main.ts')
  await runCommand(process.execPath, [program, folder], { cwd: root, signal })
}
