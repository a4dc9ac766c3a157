import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noClients } from './__fixtures__/no-clients.ts'
import type { EndpointReply } from './endpoint.ts'
import { McpEndpoint } from './endpoint.ts'
import { eventIds, readEventId } from './event-id.ts'
import { newSession, readSession } from './__fixtures__/test-sessions.ts'
import { MergedListing } from './merged-listing.ts'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type {
  ResumePoint,
  ForwardedReply,
  ForwardedRequest,
  ResumedRequest,
  Upstream,
} from './upstream.ts'
import { MOVED } from './upstream.ts'

const text = new TextDecoder()
const bytes = new TextEncoder()
const OK: ForwardedReply = { type: 'result', json: bytes.encode('{"content":[]}') }
const kept: ResumePoint = { supervisor: 'sup-1', server: 's', id: 'gateway-1-0' }
const nothing: Disposable = { [Symbol.dispose]: () => undefined }
const sessionId = newSession({})
const client = readSession(sessionId)?.id ?? ''

let forwarded: ForwardedRequest[]
let resumed: [ResumePoint, ResumedRequest][]
let settled: PromiseWithResolvers<ForwardedReply>
/** Ends the requests of a client. */
let cancels: Map<string, () => void>
let closing: AbortController
let endpoint: McpEndpoint
let make: (streamMs: number) => McpEndpoint
beforeEach(() => {
  forwarded = []
  resumed = []
  settled = Promise.withResolvers()
  cancels = new Map()
  closing = new AbortController()
  const upstream: Upstream = {
    forward(_, request) {
      forwarded.push(request)
      return settled.promise
    },
    resume(...request) {
      resumed.push(request)
      return settled.promise
    },
    answer: () => undefined,
    tell: () => undefined,
    watch: () => nothing,
    listen: () => nothing,
    onLog: () => nothing,
  }
  const clients = {
    ...noClients,
    onCancel(who: string, id: string | number, listener: () => void) {
      cancels.set(`${who} ${id}`, listener)
      return { [Symbol.dispose]: () => void cancels.delete(`${who} ${id}`) }
    },
  }
  const serverInfo = { name: 'us', version: '1' }
  const signSession = (random: string): string => random
  const deps = { upstream, clients, serverInfo, signSession }
  make = (streamMs) => new McpEndpoint(deps, { streamMs })
  endpoint = make(0)
})

afterEach(() => void vi.useRealTimers())

const usual: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-session-id': sessionId,
  'mcp-protocol-version': '2025-11-25',
}
const older = { 'mcp-protocol-version': '2025-06-18' }

function exchange(method: string, headers: object, message?: object, isSocket = false) {
  const all: Readonly<Record<string, string>> = { ...usual, ...headers }
  const tools = [{ name: 'add', inputSchema: {} }]
  const none = { prompts: [], resources: [], resourceTemplates: [] }
  const { signal } = new AbortController()
  return endpoint.handle(
    {
      method,
      header: (name) => all[name],
      body: bytes.encode(JSON.stringify(message)),
      ...(isSocket ? { message } : {}),
      signal,
      closing: closing.signal,
    },
    {
      listing: new MergedListing([{ server: 's', tools, ...none }], ({ name }) => name),
      onChange: () => nothing,
    },
  )
}

const params = { name: 'add', _meta: { progressToken: 'p' } }
const request = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
const call = (headers: object = {}, isSocket = false): Promise<EndpointReply> =>
  exchange('POST', headers, request, isSocket)
const comeBack = (lastEventId: string | undefined, headers: object = {}): Promise<EndpointReply> =>
  exchange('GET', { 'last-event-id': lastEventId, ...headers })

/** A stream, event by event. */
function read({ status, headers, body }: EndpointReply) {
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream'])
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  return async () => {
    const { value, done } = await chunks.next()
    return done === true ? undefined : text.decode(value)
  }
}

const idOf = eventIds({ kept, request: 7, progressToken: 'p' })
const eventOf = (id: string | undefined, message: object): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const progressOf = (progress: number, number?: number): string =>
  eventOf(number === undefined ? undefined : idOf?.(number), {
    method: 'notifications/progress',
    params: { progressToken: 'p', progress },
  })
const answer = { id: 7, result: { content: [] } }

test('a request that is kept becomes a stream at once, and says how to come back', async () => {
  const reply = call()
  forwarded[0]?.listener?.onResumable(kept)
  const next = read(await reply)
  expect(await next()).toBe(`id: ${idOf?.(0)}\nretry: 1500\ndata: \n\n`)
  forwarded[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await next()).toBe(progressOf(1, 1))
  forwarded[0]?.listener?.onAsk('s.1', 'roots/list', '{}', 2)
  const asked = { id: 's.1', method: 'roots/list', params: {} }
  expect(await next()).toBe(eventOf(idOf?.(2), asked))
  settled.resolve(OK)
  expect(await next()).toBe(eventOf(idOf?.('end'), answer))
  expect(await next()).toBeUndefined()
})

test('an older client gets no event without data: its stream begins with what is said', async () => {
  const reply = call(older)
  forwarded[0]?.listener?.onResumable(kept)
  forwarded[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await read(await reply)()).toBe(progressOf(1, 1))
})

test('an older client to which nothing is said gets its answer as JSON', async () => {
  const reply = call(older)
  forwarded[0]?.listener?.onResumable(kept)
  settled.resolve(OK)
  expect(JSON.parse(text.decode((await reply).body as Uint8Array))).toMatchObject(answer)
})

test.each<[string, object, boolean]>([
  ['has no session', { 'mcp-session-id': undefined }, false],
  ['takes no streams', { accept: 'application/json' }, false],
  ['speaks over a socket', {}, true],
])('nothing is kept for who %s', async (_, headers, isSocket) => {
  settled.resolve(OK)
  await call(headers, isSocket)
  expect(forwarded).toHaveLength(1)
  expect(forwarded[0]?.isResumable).not.toBe(true)
})

test('a stream that another has taken over ends without an answer', async () => {
  const reply = call()
  forwarded[0]?.listener?.onResumable(kept)
  settled.reject(MOVED)
  const next = read(await reply)
  await next()
  expect(await next()).toBeUndefined()
})

test('where streams have a limit a client comes back again and again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  endpoint = make(1_000)
  const reply = call()
  forwarded[0]?.listener?.onResumable(kept)
  const first = read(await reply)
  await first()
  forwarded[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  vi.advanceTimersByTime(1_000)
  expect(await first()).toBe(progressOf(1, 1))
  expect(await first()).toBeUndefined()
  const second = read(await comeBack(idOf?.(1)))
  await second()
  await second()
  vi.advanceTimersByTime(1_000)
  expect(await second()).toBeUndefined()
  settled.resolve(OK)
  const third = read(await comeBack(idOf?.(1)))
  await third()
  await third()
  expect(await third()).toBe(eventOf(idOf?.('end'), answer))
  expect(vi.getTimerCount()).toBe(0)
})

test('a request with an id that is too long to be sent back has events without ids', async () => {
  const reply = exchange('POST', {}, { ...request, id: 'x'.repeat(1_000) })
  forwarded[0]?.listener?.onResumable(kept)
  forwarded[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await read(await reply)()).toBe(progressOf(1))
})

test('who comes back gets the rest, and the answer', async () => {
  const next = read(await comeBack(idOf?.(3)))
  expect(resumed).toMatchObject([[kept, { client, after: 3 }]])
  expect(await next()).toBe(': open\n\n')
  // The stream may break before there is more.
  expect(await next()).toContain(`id: ${idOf?.(3)}\n`)
  resumed[0]?.[1].listener.onNotice('notifications/progress', '{"progress":4}', 4)
  expect(await next()).toBe(progressOf(4, 4))
  settled.resolve(OK)
  expect(await next()).toBe(eventOf(idOf?.('end'), answer))
  expect(await next()).toBeUndefined()
  expect(cancels.size).toBe(0)
})

test('who comes back gets all that was missed, however much it is', async () => {
  const next = read(await comeBack(idOf?.(0), older))
  const numbers = Array.from({ length: 500 }, (_, index) => index + 1)
  for (const number of numbers) {
    const said = JSON.stringify({ progress: number })
    resumed[0]?.[1].listener.onNotice('notifications/progress', said, number)
  }
  expect(await next()).toBe(': open\n\n')
  for (const number of numbers) expect(await next()).toBe(progressOf(number, number))
})

test('who comes back may cancel', async () => {
  await comeBack(idOf?.(3), older)
  cancels.get(`${client} 7`)?.()
  expect(resumed[0]?.[1].signal.aborted).toBe(true)
})

test('who comes back to what is lost is told so, as the answer', async () => {
  const next = read(await comeBack(idOf?.(3), older))
  settled.reject(new JsonRpcError(JsonRpcCode.unavailable, 'gone'))
  expect(await next()).toBe(': open\n\n')
  const error = { code: -32_000, message: 'gone' }
  expect(await next()).toBe(eventOf(idOf?.('end'), { id: 7, error }))
  expect(await next()).toBeUndefined()
})

test('after the end there is nothing to come back to, by a status after which clients stay away', async () => {
  expect(await comeBack(idOf?.('end'))).toMatchObject({ status: 405 })
  expect(resumed).toEqual([])
})

test('only who has a session comes back', async () => {
  expect(await comeBack(idOf?.(1), { 'mcp-session-id': undefined })).toMatchObject({ status: 405 })
  expect(await comeBack(idOf?.(1), { 'mcp-session-id': 'none' })).toMatchObject({ status: 404 })
  expect(resumed).toEqual([])
})

const encoded = (source: unknown): string => btoa(JSON.stringify(source)).replaceAll('=', '')

test.each([
  ['', 'nothing'],
  ['12', 'a number'],
  ['AAAA.1', 'no JSON'],
  [`${encoded({})}.1`, 'no list'],
  [`${encoded(['a', 'b', 'c'])}.1`, 'too short a list'],
  [`${encoded(['a', 'b.>', 'c', 1])}.1`, 'no name of a server'],
  [`${encoded(['a', 'b', 'c', {}])}.1`, 'no id of a request'],
  [`${encoded(['a', 'b', 'c', 1])}.-1`, 'no number'],
])('the id of an event that is none of ours opens the stream of the session: %s', async (id) => {
  expect(readEventId(id)).toBeUndefined()
  expect(await read(await comeBack(id))()).toBe(': open\n\n')
  expect(resumed).toEqual([])
})

test.each([7, 'sieben', 'ä "€"'])('ids of events carry what a request is called: %s', (id) => {
  const last = readEventId(eventIds({ kept, request: id, progressToken: id })?.(12) ?? '')
  expect(last).toEqual({ kept, request: id, progressToken: id, number: 12 })
})

test('a gateway that goes down sends away a client that can come back, and no other', async () => {
  const [primed, earlier] = [call(), call(older)]
  for (const { listener } of forwarded) listener?.onResumable(kept)
  const next = read(await primed)
  expect(await next()).toContain('retry: ')
  closing.abort()
  expect(await next()).toBeUndefined()
  // A question has an id, too.
  forwarded[1]?.listener?.onAsk('s.1', 'roots/list', '{}', 1)
  const asked = read(await earlier)
  expect(await asked()).toContain('roots/list')
  expect(await asked()).toBeUndefined()
})

test('a gateway that goes down answers a client that cannot come back', async () => {
  const reply = call(older)
  forwarded[0]?.listener?.onResumable(kept)
  closing.abort()
  settled.resolve(OK)
  expect(await reply).toMatchObject({ status: 200 })
})
