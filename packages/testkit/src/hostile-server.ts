import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Guardian } from 'mcp-host/process'
import { spawnGuarded } from 'mcp-host/process'

/** How a hostile server misbehaves; `fixtures/hostile-server.ts` does it. */
export const HOSTILE_KINDS = [
  'schema-pattern',
  'schema-references',
  'schema-unique-items',
  'schema-properties',
  'schema-deep',
  'names',
  'endless-pages',
  'deep-arguments',
  'result-objects',
  'result-blocks',
  'result-deep',
  'error-deep',
  'remote-body',
  'remote-event',
  'flood-logs',
  'flood-list-changed',
  'flood-updated',
  'flood-progress',
  'flood-requests',
  'flood-stderr',
  'flood-stdout',
] as const
export type HostileKind = (typeof HOSTILE_KINDS)[number]

/** The tool of every hostile server. */
export const HOSTILE_TOOL = 'attack'

const DEEP = 10_000
const UNIQUE_ITEMS = 15_000

/** Arguments of the call that hurts, as JSON. */
export function hostileArguments(kind: HostileKind): string {
  if (kind === 'schema-pattern') return JSON.stringify({ text: `${'a'.repeat(40)}!` })
  if (kind === 'deep-arguments') return `{"value":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`
  if (kind !== 'schema-unique-items') return '{}'
  return JSON.stringify({ items: Array.from({ length: UNIQUE_ITEMS }, (_, id) => ({ id })) })
}

/** The `mcp.json` entry of a hostile server. A remote one is started, and ends with the guardian. */
export async function hostileServer(guardian: Guardian, kind: HostileKind): Promise<object> {
  const program = join(import.meta.dirname, '..', 'fixtures', 'hostile-server.ts')
  const command = { command: process.execPath, args: [program, kind] }
  if (!kind.startsWith('remote-')) return command
  const { stdout } = await spawnGuarded(guardian, {
    ...command,
    cwd: import.meta.dirname,
    env: {},
    stdin: 'ignore',
    stderr: 'inherit',
  })
  if (stdout === null) throw new Error('the hostile server has no output')
  for await (const url of createInterface({ input: stdout })) return { url }
  throw new Error('the hostile server ended before it said its address')
}
