import { resolve } from 'node:path'
import { CommandError } from '../command-line.ts'
import type { Env } from './read-env.ts'
import type { RunFile } from './run-file.ts'
import { readRunFile } from './run-file.ts'

/**
 * The host that runs on DATA_DIR of these settings, for a command with this environment. Its own settings may be others:
 * it was started in another terminal. Throws `CommandError` when PORT of the environment names another host.
 */
export function runningHost(env: Env, root: string, outer: Env = process.env): RunFile | undefined {
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  const running = readRunFile(dataDir)
  if (running === undefined || !URL.canParse(running.url)) return running
  const { port } = new URL(running.url)
  const wanted = outer['PORT'] || '0'
  if (wanted === '0' || wanted === port) return running
  throw new CommandError(
    `PORT is ${wanted}, but the host on ${dataDir} listens at port ${port}. Set DATA_DIR to the folder of the host at ${wanted}, or unset PORT for this one.`,
  )
}
