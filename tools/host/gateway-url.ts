import type { Env } from './read-env.ts'
import { readEnv } from './read-env.ts'
import { runningHost } from './running-host.ts'

/** The URL of the gateway: from the file of the running host, otherwise from the settings. */
export function gatewayUrl(outer: Env, root: string): string {
  const env = readEnv(outer, root)
  return runningHost(env, root, outer)?.url || `http://127.0.0.1:${env['PORT'] || 3000}`
}
