import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { withConfigFile } from '@mcp-host/service'

export type Env = Readonly<Record<string, string | undefined>>

/**
 * The environment, completed from the `.env` file of a folder, then from the configuration file. Throws `ConfigError`
 * with all faults of the latter.
 */
export function readEnv(outer: Env, folder: string): Env {
  const file = resolve(folder, outer['ENV_FILE'] || '.env')
  const fromFile = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  const env: Env = { ...fromFile, ...outer }
  const { CONFIG_FILE: path } = env
  return path ? withConfigFile({ ...env, CONFIG_FILE: resolve(folder, path) }) : env
}
