import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import * as z from 'zod'

import type { ResourceLimits } from '@mcp-host/process'
import type {
  CommonServerConfig,
  RemoteServerConfig,
  SandboxConfig,
  StdioServerConfig,
} from '@mcp-host/upstream'
import type { RemoteEntry, StdioEntry } from './server-entry.ts'
import { settings } from './server-fields.ts'
import { mayBeSse } from './server-kind.ts'

const Settings = z.object(settings)
const BYTES_PER_MEGABYTE = 2 ** 20

/** `folder` is the base of relative paths; `fileEnv` has the variables of the entry's `envFile`. */
export function toStdioConfig(
  entry: StdioEntry,
  folder: string,
  fileEnv: Readonly<Record<string, string>>,
): StdioServerConfig {
  const { command, args = [], env = {}, cwd = '.', limits, sandbox, instances } = entry
  return {
    type: 'stdio',
    command,
    args,
    env: { ...fileEnv, ...env },
    cwd: resolve(folder, cwd),
    ...(limits === undefined ? {} : { limits: toLimits(limits) }),
    ...(sandbox === undefined ? {} : { sandbox: toSandbox(sandbox, folder) }),
    ...(instances === undefined ? {} : { instances }),
    ...toCommon(entry, folder),
  }
}

export function toRemoteConfig(
  entry: RemoteEntry,
  type: RemoteServerConfig['type'],
  folder: string,
): RemoteServerConfig {
  const { url, headers = {}, instances } = entry
  const balanced = instances === undefined ? {} : { instances }
  const fallback = type === 'http' && mayBeSse(entry) ? { fallback: 'sse' as const } : {}
  return { type, ...fallback, url, headers, ...balanced, ...toCommon(entry, folder) }
}

function toLimits({ memoryMb, ...limits }: NonNullable<StdioEntry['limits']>): ResourceLimits {
  if (memoryMb === undefined) return limits
  return { ...limits, memoryBytes: Math.round(memoryMb * BYTES_PER_MEGABYTE) }
}

function toSandbox(sandbox: NonNullable<StdioEntry['sandbox']>, folder: string): SandboxConfig {
  if (typeof sandbox === 'string') return { kind: sandbox }
  const { roots, ...rest } = sandbox
  return { ...rest, ...(roots && { roots: roots.map((root) => resolve(folder, root)) }) }
}

function toCommon(entry: StdioEntry | RemoteEntry, folder: string): CommonServerConfig {
  const { timeout, restart, roots } = entry
  return {
    ...Settings.parse(entry),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    ...(restart === undefined
      ? {}
      : { restart: typeof restart === 'string' ? { policy: restart } : restart }),
    ...(roots === undefined ? {} : { roots: roots.map((root) => toFileUri(root, folder)) }),
  }
}

function toFileUri(root: string, folder: string): string {
  return root.includes('://') ? new URL(root).href : pathToFileURL(resolve(folder, root)).href
}
