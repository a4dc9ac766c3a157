import { join, resolve } from 'node:path'
import { ownValue } from '@mcp-host/contracts'
import { cacheFolder } from '../provision/cache.mjs'
import type { Env } from './read-env.ts'
import { isSetting } from './unknown-settings.ts'

const FILE_OF_A_SECRET = /_FILE$|^NATS_TLS_KEY$/

/** The settings of the sandbox for the host in a folder. */
export function sandboxPaths(env: Env, folder: string, dataDir: string): Env {
  const { hidden, readOnly } = protectedPaths(env, folder, dataDir)
  const joined = (name: string, paths: readonly string[]): string =>
    [...new Set([...paths, ...(ownValue(env, name)?.split(',') ?? [])])].filter(Boolean).join(',')
  return {
    SANDBOX_HIDDEN: joined('SANDBOX_HIDDEN', hidden),
    SANDBOX_READ_ONLY: joined('SANDBOX_READ_ONLY', readOnly),
    SANDBOX_WRITABLE: joined('SANDBOX_WRITABLE', [join(folder, 'examples')]),
  }
}

/** The faults of paths that these settings cannot name. */
export function sandboxProblems(env: Env, folder: string, dataDir: string): string[] {
  const { hidden, readOnly } = protectedPaths(env, folder, dataDir)
  return [...hidden, ...readOnly]
    .filter((path) => path.includes(','))
    .map((path) => `${path} has a comma, so it could not be hidden from MCP servers: rename it`)
}

/** Data and secrets of the host; its program and configuration. */
function protectedPaths(
  env: Env,
  folder: string,
  dataDir: string,
): { readonly hidden: readonly string[]; readonly readOnly: readonly string[] } {
  const path = (value: string): string => resolve(folder, value)
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value && FILE_OF_A_SECRET.test(name) && isSetting(name) ? [path(value)] : [],
  )
  const hidden = [
    dataDir,
    path(env['ENV_FILE'] || '.env'),
    path(env['LLM_CONFIG'] || 'llm.json'),
    // It may have the secrets of other servers.
    path(env['MCP_JSON_PATH'] || 'mcp.json'),
    ...secrets,
  ]
  const readOnly = [
    cacheFolder(),
    // A program could add a configuration that is missing, or change a command that is run next.
    folder,
    path(env['POLICY_CONFIG'] || 'policy.json'),
    path(env['BUNDLES_CONFIG'] || 'bundles.json'),
  ]
  return { hidden, readOnly }
}
