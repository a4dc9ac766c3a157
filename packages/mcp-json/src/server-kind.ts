import type { ServerConfig } from '@mcp-host/upstream'
import { ENTRY_KINDS } from './entries/index.ts'

type Type = ServerConfig['type']

// The keys of the table are the types.
const ALL = Object.entries(ENTRY_KINDS) as readonly [Type, (typeof ENTRY_KINDS)[Type]][]
/** The types by their names in a file. */
const TYPES: ReadonlyMap<unknown, Type> = new Map(
  ALL.flatMap(([type, { names }]) => names.map((name) => [name, type] as const)),
)
/** The names in a file by their spellings in other clients. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['local', 'local'],
  ['remote', 'remote'],
  ...ALL.flatMap(([type, { names, spellings = [] }]) =>
    [...names, ...spellings].map((name) => [lettersOf(name), type] as const),
  ),
])

/** The type of an entry; for a faulty entry, the most likely one. */
export function serverKind(entry: Readonly<Record<string, unknown>>): Type {
  const { type, transport, command, url = urlOfInstance(entry) } = entry
  if ('builtIn' in entry) return 'built-in'
  if (type === 'local') return 'stdio'
  const named = TYPES.get(type)
  if (named !== undefined) return named
  const byTransport = TYPES.get(transport)
  const isLocal = byTransport === 'stdio'
  if (byTransport !== undefined && !(type === 'remote' && isLocal)) return byTransport
  if (type !== 'remote' && (command !== undefined || url === undefined)) return 'stdio'
  return typeof url === 'string' && /^wss?:/i.test(url) ? 'websocket' : 'http'
}

/** The URL of the first instance, which shows that a faulty entry without a URL is remote. */
function urlOfInstance({ instances }: Readonly<Record<string, unknown>>): unknown {
  const [first]: unknown[] = Array.isArray(instances) ? instances : []
  return typeof first === 'object' && first !== null && 'url' in first ? first.url : undefined
}

/** Whether `type` and `transport` name different transports. */
export function isContradiction({ type, transport }: Readonly<Record<string, unknown>>): boolean {
  const [byType, byTransport] = [TYPES.get(type), TYPES.get(transport)]
  return byType !== undefined && byTransport !== undefined && byType !== byTransport
}

/** The name in a file of a type in any spelling. */
export function nameOfType(written: string): string {
  return NAMES.get(lettersOf(written)) ?? written
}

/** Tells which types a server can have, in a file or in an object. */
export function typesHint({ isInFile }: { readonly isInFile: boolean }): string {
  const types = ALL.flatMap(([type, { isCode }]) => (isInFile && isCode === true ? [] : type))
  return `must be ${listed(types, 'or')}`
}

/** Which types of servers have a field, if any does. */
export function typesWith(
  field: PropertyKey,
): { readonly types: string; readonly remedy: string } | undefined {
  const having = ALL.filter(([, { entry }]) => Object.hasOwn(entry.shape, field))
  const [first] = having
  if (first === undefined) return undefined
  return {
    types: listed(
      having.map(([type]) => type),
      'and',
    ),
    remedy: first[1].remedy,
  }
}

function listed(words: readonly string[], last: string): string {
  const quoted = words.map((word) => `"${word}"`)
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(` ${last} `)
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '')
}
