import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { HostileKind } from '@mcp-host/testkit'
import { HOSTILE_KINDS, HOSTILE_TOOL, hostileArguments, hostileServer } from '@mcp-host/testkit'
import type { Blast, BlastTarget } from './blast.ts'

const PERIOD_MS = 500
const SHOWN_BYTES = 200

/** A hostile MCP server of each kind, whose tool is called twice a second. */
export const hostileServers: Readonly<Record<string, Blast>> = Object.fromEntries(
  HOSTILE_KINDS.map((kind) => [
    kind,
    {
      victim: 'mcp-supervisor',
      strike: (target, signal) => strike(kind, target, signal),
    } satisfies Blast,
  ]),
)

async function strike(
  kind: HostileKind,
  { url, guardian, addServer }: BlastTarget,
  signal: AbortSignal,
): Promise<string> {
  await addServer('hostile', await hostileServer(guardian, kind))
  const params = `{"name":"hostile__${HOSTILE_TOOL}","arguments":${hostileArguments(kind)},"_meta":{"progressToken":"hostile"}}`
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
  let last = 'no answer'
  while (!signal.aborted) {
    call(`${url}/mcp`, body, signal, (answer) => (last = answer))
    // The end of the time may come while it waits.
    await delay(PERIOD_MS, undefined, { signal }).catch(() => undefined)
  }
  return last
}

/** Reads the answer, however large, and keeps only its beginning. */
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
