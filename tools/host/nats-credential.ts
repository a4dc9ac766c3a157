import type { Credential } from '@mcp-host/bus'
import { baseSettings, loadConfig } from '@mcp-host/service'
import type { Env } from './read-env.ts'

/** The credential for the broker of NATS_URL, from the settings. */
export function credentialOf(env: Env): Credential {
  const { natsSeedFile, natsTlsCa, natsTlsCert, natsTlsKey } = loadConfig(baseSettings, env)
  return {
    seedFile: natsSeedFile,
    caFile: natsTlsCa,
    certFile: natsTlsCert,
    keyFile: natsTlsKey,
  }
}
