import { resolve } from 'node:path'
import { readOperatorKey } from './host-keys.ts'
import type { Env } from './read-env.ts'
import { readEnv } from './read-env.ts'

export interface CredentialOptions {
  readonly env: Env
  /** The folder of the repository. */
  readonly root: string
  /** The value of the option `--token`. */
  readonly token: string | undefined
  /** The value of the option `--url`. */
  readonly url: string | undefined
}

/**
 * The headers by which a command authenticates at a gateway: an API key or access token from `--token` or
 * `MCP_HOST_TOKEN`; otherwise the operator's key of the host on `DATA_DIR`. With `--url`, the operator's key is not
 * sent, since the gateway may be a stranger's.
 */
export function credential({
  env,
  root,
  token,
  url,
}: CredentialOptions): Readonly<Record<string, string>> {
  const given = token || env['MCP_HOST_TOKEN']
  const dataDir = resolve(root, readEnv(env, root)['DATA_DIR'] || '.data')
  const used = given || (url === undefined ? readOperatorKey(dataDir) : undefined)
  return used === undefined ? {} : { authorization: `Bearer ${used}` }
}
