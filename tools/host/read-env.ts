import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, withConfigFile } from '@mcp-host/service'
import { decodeText, readFault } from '@mcp-host/json'

export type Env = Readonly<Record<string, string | undefined>>

/**
 * The environment, completed from the `.env` file of a folder, then from the configuration file. Throws `ConfigError`
 * with all faults of one of these files.
 */
export function readEnv(outer: Env, folder: string): Env {
  const file = resolve(folder, outer['ENV_FILE'] || '.env')
  const env: Env = { ...readEnvFile(file), ...outer }
  const { CONFIG_FILE: path } = env
  return path ? withConfigFile({ ...env, CONFIG_FILE: resolve(folder, path) }) : env
}

function readEnvFile(file: string): Env {
  if (!existsSync(file)) return {}
  try {
    return parseEnv(decodeText(readFileSync(file)))
  } catch (error) {
    throw new ConfigError([`${file}: ${readFault(error)}`])
  }
}
