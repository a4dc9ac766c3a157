import { resolve } from 'node:path'
import { gatewaySettings } from '@mcp-host/gateway/config'
import { publicAddress } from '@mcp-host/gateway/public-address'
import { loadConfig } from '@mcp-host/service'
import type { Env } from './read-env.ts'
import { readRunFile } from './run-file.ts'

/** The address by which clients reach the host of these settings. */
export function publicUrl(env: Env, root: string): string {
  const { publicUrl: given, host, port } = loadConfig(gatewaySettings, env)
  const written = readRunFile(resolve(root, env['DATA_DIR'] || '.data'))?.url ?? ''
  const actual = port === 0 && URL.canParse(written) ? Number(new URL(written).port) : port
  return publicAddress({ publicUrl: given, host, port: actual }).publicUrl
}
