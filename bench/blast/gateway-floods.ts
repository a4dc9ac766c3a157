import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Attack } from './attack.ts'
import type { ConnectionFlood } from './flood-connections.ts'

const CONNECTIONS = 60
const MIB = 1024 * 1024

/** Name of the bundle that `search_tools` searches. */
export const SEARCH_BUNDLE = 'searched'
/** The tools of that bundle, with descriptions of 20 words. Never called. */
export const SEARCHED_TOOLS = Array.from({ length: 300 }, (_, tool) => ({
  name: `tool${tool}`,
  description: words(20 * tool, 20),
  inputSchema: { type: 'object' },
}))

/** Requests and frames that cost the gateway more than their sender, over many concurrent connections. */
export const gatewayFloods: Readonly<Record<string, Attack>> = {
  'one-byte-chunks': flood({ head: upload, part: bytes('1\r\nx\r\n'.repeat(2_000)) }),
  'slow-bodies': flood({ head: upload, part: bytes('1\r\nx\r\n'), pauseMs: 500 }),
  'unfinished-uploads': flood({
    addressOf: beginUpload,
    head: upload,
    part: chunk(MIB),
    maxBytes: 18 * MIB,
  }),
  'refused-uploads': flood({ path: '/none', head: upload, part: chunk(MIB), pauseMs: 1 }),
  'large-frames': flood({ path: '/ws', head: upgrade, part: chatFrame(MIB) }),
  'too-large-frames': flood({ path: '/ws', head: upgrade, part: chatFrame(3 * MIB) }),
  'large-mcp-frames': flood({ path: '/mcp/ws', head: upgrade, part: mcpFrame(8 * MIB) }),
  'too-large-mcp-frames': flood({ path: '/mcp/ws', head: upgrade, part: mcpFrame(12 * MIB) }),
  'unfinished-frames': flood({
    path: '/mcp/ws',
    head: (path) => Buffer.concat([upgrade(path), frameHead(16 * MIB)]),
    part: Buffer.alloc(MIB),
    maxBytes: 15 * MIB,
  }),
  // Of few sockets: no limit of one socket alone holds them back.
  'tiny-frames': flood({
    path: '/ws',
    head: upgrade,
    part: frames(0x81, '{}'),
    connections: 4,
    pauseMs: 1,
  }),
  'tiny-mcp-frames': flood({
    path: '/mcp/ws',
    head: upgrade,
    part: frames(0x81, '{}'),
    connections: 4,
    pauseMs: 1,
  }),
  pings: flood({ path: '/ws', head: upgrade, part: frames(0x89, ''), connections: 4, pauseMs: 1 }),
  'many-values': flood({
    part: request(
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${'{},'.repeat(2_700_000)}1]}}`,
    ),
    connections: 10,
    pauseMs: 100,
  }),
  'many-names': flood({
    part: request('/mcp', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${names(600_000)}}}`),
    connections: 10,
    pauseMs: 100,
  }),
  'long-searches': flood({
    ...searches(words(1_000_000, 200).slice(0, 1_000)),
    connections: 10,
    pauseMs: 100,
  }),
  'too-long-searches': flood({
    ...searches(words(0, 10_000)),
    connections: 10,
    pauseMs: 100,
  }),
}

interface FloodOptions {
  readonly path?: string
  /** Resolves with the path, where it depends on the gateway. Default: `path`. */
  readonly addressOf?: (url: string) => Promise<string>
  readonly head?: (path: string) => Uint8Array
  readonly part: Uint8Array
  readonly connections?: number
  readonly pauseMs?: number
  readonly maxBytes?: number
}

/** Sends from a thread, which does not delay the callers in this one. */
function flood(options: FloodOptions): Attack {
  const { path = '/mcp', addressOf = async () => path, head = () => new Uint8Array() } = options
  const { part, connections = CONNECTIONS, pauseMs = 20 } = options
  return {
    victim: 'gateway',
    async run({ url, sinkPort }, signal) {
      const workerData: ConnectionFlood = {
        port: sinkPort ?? Number(new URL(url).port),
        head: head(await addressOf(url)),
        part,
        connections,
        pauseMs,
        maxBytes: options.maxBytes ?? Number.POSITIVE_INFINITY,
      }
      let answered = ''
      const worker = new Worker(new URL('flood-connections.ts', import.meta.url), { workerData })
      worker.on('message', (message) => (answered = String(message)))
      if (!signal.aborted) await once(signal, 'abort')
      await worker.terminate()
      return answered
    },
  }
}

/** Resolves with the path for files of a new session. The gateway refuses those of unknown sessions unread. */
async function beginUpload(url: string): Promise<string> {
  const response = await fetch(`${url}/api/chat/session`, { method: 'POST' })
  const { sessionId } = (await response.json()) as { sessionId: string }
  return `/api/chat/session/${sessionId}/file`
}

function upload(path: string): Uint8Array {
  const type = 'content-type: application/json\r\ntransfer-encoding: chunked'
  return bytes(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\n\r\n`)
}

function upgrade(path: string): Uint8Array {
  const key = Buffer.alloc(16).toString('base64')
  const headers = `upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: ${key}\r\nsec-websocket-version: 13`
  return bytes(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n\r\n`)
}

function chunk(length: number): Uint8Array {
  return bytes(`${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`)
}

/** The head of a text frame with a mask of zeros. */
function frameHead(length: number): Uint8Array {
  const head = Buffer.alloc(14)
  head.writeUInt16BE(0x81_ff)
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

function frame(message: (padding: string) => object, length: number): Uint8Array {
  const empty = JSON.stringify(message('')).length
  const text = bytes(JSON.stringify(message('x'.repeat(length - empty))))
  return Buffer.concat([frameHead(text.length), text])
}

/** Ten thousand short frames. */
function frames(opcode: number, text: string): Uint8Array {
  const one = Buffer.concat([Buffer.from([opcode, 0x80 | text.length, 0, 0, 0, 0]), bytes(text)])
  return Buffer.concat(Array.from({ length: 10_000 }, () => one))
}

/** A message whose text is refused. An accepted one would begin a turn. */
function chatFrame(length: number): Uint8Array {
  return frame((text) => ({ type: 'message', payload: { text } }), length)
}

function mcpFrame(length: number): Uint8Array {
  return frame((pad) => ({ jsonrpc: '2.0', id: 1, method: 'ping', params: { pad } }), length)
}

function searches(query: string): Pick<FloodOptions, 'part'> {
  const params = { name: 'search_tools', arguments: { query } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return { part: request(`/mcp/bundles/${SEARCH_BUNDLE}`, body) }
}

function request(path: string, body: string): Uint8Array {
  const type = 'content-type: application/json\r\naccept: application/json, text/event-stream'
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}`
  return bytes(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

function names(count: number): string {
  return Array.from({ length: count }, (_, index) => `"n${index}":1`).join()
}

/** Distinct words. */
function words(first: number, count: number): string {
  const word = (_: unknown, index: number): string =>
    `w${((first + index) * 7_919_777).toString(36)}`
  return Array.from({ length: count }, word).join(' ')
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}
