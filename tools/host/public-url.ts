import { gatewaySettings } from '@mcp-host/gateway/config'
import { publicAddress } from '@mcp-host/gateway/public-address'
import { loadConfig } from '@mcp-host/service'
import type { Env } from './read-env.ts'

/** The address by which clients reach a host of these settings, whose gateway may listen at a port of its choice. */
export function publicUrl(env: Env, gatewayUrl?: string): string {
  const settings = loadConfig(gatewaySettings, env)
  const port = gatewayUrl ? Number(new URL(gatewayUrl).port) : settings.port
  return publicAddress({ ...settings, port }).publicUrl
}
