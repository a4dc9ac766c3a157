import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'

export type Env = Readonly<Record<string, string | undefined>>

/** The environment, with what the `.env` file of a folder adds to it. */
export function readEnv(outer: Env, folder: string): Env {
  const file = resolve(folder, outer['ENV_FILE'] || '.env')
  const fromFile = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  return { ...fromFile, ...outer }
}
