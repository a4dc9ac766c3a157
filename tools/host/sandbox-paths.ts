import { join, resolve } from 'node:path'
import { ownValue } from '@mcp-host/contracts'
import { cacheFolder } from '../provision/cache.mjs'
import type { Env } from './read-env.ts'

/** Certificates are no secret, and programs need them. */
const PUBLIC_FILES = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|NATS_TLS_(CA|CERT))$/
const FILE_OF_A_SECRET = /_FILE$|^NATS_TLS_KEY$/
/** The program of the host, in its folder. */
const PROGRAM = ['deploy', 'dist', 'node_modules', 'packages', 'services', 'tools', 'package.json']

/**
 * The settings `SANDBOX_HIDDEN` and `SANDBOX_READ_ONLY` for the host in a folder: its data and secrets, and its program
 * and configuration.
 */
export function sandboxPaths(env: Env, folder: string, dataDir: string): Env {
  const path = (value: string): string => resolve(folder, value)
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value && FILE_OF_A_SECRET.test(name) && !PUBLIC_FILES.test(name) ? [path(value)] : [],
  )
  const configuration = [
    env['POLICY_CONFIG'] || 'policy.json',
    env['BUNDLES_CONFIG'] || 'bundles.json',
  ]
  const joined = (name: string, paths: readonly string[]): string =>
    [...new Set([...paths, ...(ownValue(env, name)?.split(',') ?? [])])].filter(Boolean).join(',')
  return {
    SANDBOX_HIDDEN: joined('SANDBOX_HIDDEN', [
      dataDir,
      path(env['ENV_FILE'] || '.env'),
      path(env['LLM_CONFIG'] || 'llm.json'),
      // It may have the secrets of other servers.
      path(env['MCP_JSON_PATH'] || 'mcp.json'),
      ...(env['CONFIG_FILE'] ? [path(env['CONFIG_FILE'])] : []),
      ...secrets,
    ]),
    SANDBOX_READ_ONLY: joined('SANDBOX_READ_ONLY', [
      cacheFolder(),
      ...PROGRAM.map((name) => join(folder, name)),
      ...configuration.map(path),
    ]),
  }
}
