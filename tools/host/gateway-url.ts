import { resolve } from 'node:path'
import { readEnv } from './read-env.ts'
import type { Env } from './read-env.ts'
import { readRunFile } from './run-file.ts'

/** The URL of the gateway: from the file of the running host, otherwise from the settings. */
export function gatewayUrl(outer: Env, root: string): string {
  const env = readEnv(outer, root)
  const written = readRunFile(resolve(root, env['DATA_DIR'] || '.data'))?.url
  return written || `http://127.0.0.1:${env['PORT'] || 3000}`
}
