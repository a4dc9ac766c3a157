import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Guardian } from '@mcp-host/process'
import { spawnGuarded } from '@mcp-host/process'

/** The ways in which `fixtures/hostile-server.ts` misbehaves. */
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
  'result-keys',
  'result-blocks',
  'result-deep',
  'error-deep',
  'remote-body',
  'remote-event',
  'remote-blank-events',
  'remote-short-streams',
  'socket-empty-frames',
  'socket-tiny-parts',
  'socket-pings',
  'flood-logs',
  'flood-list-changed',
  'flood-updated',
  'flood-progress',
  'flood-requests',
  'flood-stderr',
  'flood-stdout',
] as const
export type HostileKind = (typeof HOSTILE_KINDS)[number]
/** A remote server of the same program that behaves well, for comparison. */
export type HarmlessKind = 'remote-harmless'

/** The tool of every hostile server. */
export const HOSTILE_TOOL = 'attack'

const CALL_PERIOD_MS = 500
const SHOWN_BYTES = 200

const DEEP = 10_000
const UNIQUE_ITEMS = 15_000

/** The arguments of the harmful call, as JSON. */
function hostileArguments(kind: HostileKind): string {
  if (kind === 'schema-pattern') return JSON.stringify({ text: `${'a'.repeat(40)}!` })
  if (kind === 'deep-arguments') return `{"value":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`
  if (kind !== 'schema-unique-items') return '{}'
  return JSON.stringify({ items: Array.from({ length: UNIQUE_ITEMS }, (_, id) => ({ id })) })
}

/** The `mcp.json` entry of a hostile server. A remote server (`remote-`: HTTP, `socket-`: WebSocket) is started, and ends with the guardian. */
export async function hostileServer(
  guardian: Guardian,
  kind: HostileKind | HarmlessKind,
): Promise<object> {
  const program = join(import.meta.dirname, '..', 'fixtures', 'hostile-server.ts')
  const command = { command: process.execPath, args: [program, kind] }
  if (!kind.startsWith('remote-') && !kind.startsWith('socket-')) return command
  const { stdout } = await spawnGuarded(guardian, {
    ...command,
    cwd: import.meta.dirname,
    env: {},
    stdin: 'ignore',
    stderr: 'inherit',
  })
  if (stdout === null) throw new Error('the hostile server has no output')
  for await (const url of createInterface({ input: stdout })) return { url }
  throw new Error('the hostile server ended before it printed its URL')
}

/**
 * Calls the tool of a hostile server twice a second through a gateway, until the signal. Resolves to the beginning of
 * the last answer; answers are read to their end and discarded.
 */
export async function callHostileServer(
  { url, name, kind }: { readonly url: string; readonly name: string; readonly kind: HostileKind },
  signal: AbortSignal,
): Promise<string> {
  const params = `{"name":"${name}__${HOSTILE_TOOL}","arguments":${hostileArguments(kind)},"_meta":{"progressToken":"hostile"}}`
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
  let last = 'no answer'
  while (!signal.aborted) {
    call(`${url}/mcp`, body, signal, (answer) => (last = answer))
    // The signal may abort the delay.
    await delay(CALL_PERIOD_MS, undefined, { signal }).catch(() => undefined)
  }
  return last
}

function call(
  url: string,
  body: string,
  signal: AbortSignal,
  onAnswer: (text: string) => void,
): void {
  const accept = 'application/json, text/event-stream'
  const headers = { 'content-type': 'application/json', accept }
  const sent = request(url, { method: 'POST', headers, signal, agent: false })
  // A call that is still open at the end is aborted.
  const ignore = (): void => undefined
  sent.on('error', ignore).on('response', (response) => {
    response.once('data', (chunk: Buffer) => {
      onAnswer(`${response.statusCode} ${chunk.toString('utf8', 0, SHOWN_BYTES)}`)
    })
    response.resume().on('error', ignore)
  })
  sent.end(body)
}
