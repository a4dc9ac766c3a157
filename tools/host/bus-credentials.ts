import { join } from 'node:path'
import type { Credential } from '@mcp-host/bus'
import { accountsConfig, ensureCredentials, seedFileOf } from '@mcp-host/bus'
import { loadConfig } from '@mcp-host/service'
import type { Env } from './read-env.ts'
import { busSettings } from './bus-settings.ts'

/** The folder of the credentials of a host's own nats-server. */
export function credentialsFolder(dataDir: string): string {
  return join(dataDir, 'bus')
}

export interface BusCredentials {
  /** The accounts for the configuration of nats-server; `undefined` when there are none. */
  readonly accounts: object | undefined
  /** The credential for operators' commands. */
  readonly credential: Credential
}

/** The accounts of a host's own nats-server, which are the same at each start. */
export async function busCredentials(env: Env, dataDir: string): Promise<BusCredentials> {
  if (loadConfig(busSettings, env).busAccounts === 'off') {
    return { accounts: undefined, credential: {} }
  }
  const folder = credentialsFolder(dataDir)
  const accounts = accountsConfig(await ensureCredentials(folder))
  return { accounts, credential: { seedFile: seedFileOf(folder, 'tools') } }
}
