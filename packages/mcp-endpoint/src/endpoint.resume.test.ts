import { LOCAL, POLICY_METHOD } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noClients } from '../test/no-clients.ts'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import { McpEndpoint } from './endpoint.ts'
import { eventIds, readEventId } from './streams/event-id.ts'
import { newSession, readSession, signSession } from '../test/test-sessions.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './messages/json-rpc.ts'
import type {
  ResumePoint,
  ServerReply,
  OutgoingRequest,
  ResumedRequest,
  Servers,
} from './servers.ts'
import { AccessPolicy } from './route/access-policy.ts'
import { MOVED } from './servers.ts'

const text = new TextDecoder()
const bytes = new TextEncoder()
const OK: ServerReply = { type: 'result', json: bytes.encode('{"content":[]}') }
const kept: ResumePoint = { supervisor: 'sup-1', server: 's', id: 'gateway-1-0' }
const nothing: Disposable = { [Symbol.dispose]: () => undefined }
const sessionId = newSession({})
const client = readSession(sessionId)?.id ?? ''

let sent: OutgoingRequest[]
let answered: unknown[]
let resumed: [ResumePoint, ResumedRequest][]
let settled: PromiseWithResolvers<ServerReply>
/** Cancel listeners by client and request. */
let cancels: Map<string, () => void>
let closing: AbortController
let policy: AccessPolicy
let endpoint: McpEndpoint
let make: (streamMs: number) => McpEndpoint
beforeEach(() => {
  sent = []
  resumed = []
  answered = []
  settled = Promise.withResolvers()
  cancels = new Map()
  closing = new AbortController()
  const servers: Servers = {
    send(_, request) {
      sent.push(request)
      return settled.promise
    },
    resume(...request) {
      resumed.push(request)
      return settled.promise
    },
    answer: (...given) => void answered.push(given),
    tell: () => undefined,
    watch: () => nothing,
    listen: () => nothing,
    onLog: () => nothing,
  }
  const clients = {
    ...noClients,
    onCancel(cancelled: string, id: string | number, listener: () => void) {
      cancels.set(`${cancelled} ${id}`, listener)
      return { [Symbol.dispose]: () => void cancels.delete(`${cancelled} ${id}`) }
    },
  }
  const serverInfo = { name: 'us', version: '1' }
  policy = new AccessPolicy()
  const deps = { servers, clients, serverInfo, signSession, policy }
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
/** Headers of a revision whose clients require data in each event. */
const oldHeaders = { 'mcp-protocol-version': '2025-06-18' }

function exchange(method: string, headers: object, message?: object, isSocket = false) {
  const all: Readonly<Record<string, string>> = { ...usual, ...headers }
  const tools = [{ name: 'add', inputSchema: {} }]
  const none = { prompts: [], resources: [], resourceTemplates: [] }
  const { signal } = new AbortController()
  return endpoint.handle(
    {
      method,
      principal: LOCAL,
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
const resume = (lastEventId: string | undefined, headers: object = {}): Promise<EndpointReply> =>
  exchange('GET', { 'last-event-id': lastEventId, ...headers })

/** Reads a stream event by event. */
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

test('a resumable request becomes a stream at once, with an id and a retry time', async () => {
  const reply = call()
  sent[0]?.listener?.onResumable(kept)
  const next = read(await reply)
  expect(await next()).toBe(`id: ${idOf?.(0)}\nretry: 1500\ndata: \n\n`)
  sent[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await next()).toBe(progressOf(1, 1))
  sent[0]?.listener?.onAsk('s.1', 'roots/list', '{}', 2)
  const serverRequest = { id: 's.1', method: 'roots/list', params: {} }
  expect(await next()).toBe(eventOf(idOf?.(2), serverRequest))
  settled.resolve(OK)
  expect(await next()).toBe(eventOf(idOf?.('end'), answer))
  expect(await next()).toBeUndefined()
})

test('the stream of a client of 2025-06-18 begins with the first message', async () => {
  const reply = call(oldHeaders)
  sent[0]?.listener?.onResumable(kept)
  sent[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await read(await reply)()).toBe(progressOf(1, 1))
})

test('a client of 2025-06-18 gets JSON when no message precedes the answer', async () => {
  const reply = call(oldHeaders)
  sent[0]?.listener?.onResumable(kept)
  settled.resolve(OK)
  expect(JSON.parse(text.decode((await reply).body as Uint8Array))).toMatchObject(answer)
})

test.each<[string, object, boolean]>([
  ['has no session', { 'mcp-session-id': undefined }, false],
  ['accepts no streams', { accept: 'application/json' }, false],
  ['uses a socket', {}, true],
])('a request of a client that %s is not resumable', async (_, headers, isSocket) => {
  settled.resolve(OK)
  await call(headers, isSocket)
  expect(sent).toHaveLength(1)
  expect(sent[0]?.isResumable).not.toBe(true)
})

test('a stream that another connection has resumed ends without an answer', async () => {
  const reply = call()
  sent[0]?.listener?.onResumable(kept)
  settled.reject(MOVED)
  const next = read(await reply)
  await next()
  expect(await next()).toBeUndefined()
})

test('a stream with a time limit is resumed repeatedly', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  endpoint = make(1_000)
  const reply = call()
  sent[0]?.listener?.onResumable(kept)
  const first = read(await reply)
  await first()
  sent[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  vi.advanceTimersByTime(1_000)
  expect(await first()).toBe(progressOf(1, 1))
  expect(await first()).toBeUndefined()
  const second = read(await resume(idOf?.(1)))
  await second()
  await second()
  vi.advanceTimersByTime(1_000)
  expect(await second()).toBeUndefined()
  settled.resolve(OK)
  const third = read(await resume(idOf?.(1)))
  await third()
  await third()
  expect(await third()).toBe(eventOf(idOf?.('end'), answer))
  expect(vi.getTimerCount()).toBe(0)
})

test('a request with a long id has events without ids', async () => {
  const reply = exchange('POST', {}, { ...request, id: 'x'.repeat(1_000) })
  sent[0]?.listener?.onResumable(kept)
  sent[0]?.listener?.onNotice('notifications/progress', '{"progress":1}', 1)
  expect(await read(await reply)()).toBe(progressOf(1))
})

test('a resumed stream has the further messages and the answer', async () => {
  const next = read(await resume(idOf?.(3)))
  expect(resumed).toMatchObject([[kept, { client, after: 3 }]])
  expect(await next()).toBe(': open\n\n')
  // Repeated at once: the stream may break before the next message.
  expect(await next()).toContain(`id: ${idOf?.(3)}\n`)
  resumed[0]?.[1].listener.onNotice('notifications/progress', '{"progress":4}', 4)
  expect(await next()).toBe(progressOf(4, 4))
  settled.resolve(OK)
  expect(await next()).toBe(eventOf(idOf?.('end'), answer))
  expect(await next()).toBeUndefined()
  expect(cancels.size).toBe(0)
})

test('a resumed stream has all missed messages', async () => {
  const next = read(await resume(idOf?.(0), oldHeaders))
  const numbers = Array.from({ length: 500 }, (_, index) => index + 1)
  for (const number of numbers) {
    const progressParams = JSON.stringify({ progress: number })
    resumed[0]?.[1].listener.onNotice('notifications/progress', progressParams, number)
  }
  expect(await next()).toBe(': open\n\n')
  for (const number of numbers) expect(await next()).toBe(progressOf(number, number))
})

test('a resumed request can be cancelled', async () => {
  await resume(idOf?.(3), oldHeaders)
  cancels.get(`${client} 7`)?.()
  expect(resumed[0]?.[1].signal.aborted).toBe(true)
})

test('a request that cannot be resumed is answered with an error', async () => {
  const next = read(await resume(idOf?.(3), oldHeaders))
  settled.reject(new JsonRpcError(JsonRpcCode.unavailable, 'gone'))
  expect(await next()).toBe(': open\n\n')
  const error = { code: -32_000, message: 'gone' }
  expect(await next()).toBe(eventOf(idOf?.('end'), { id: 7, error }))
  expect(await next()).toBeUndefined()
})

test('a request that has ended is not resumed, with a status that stops retries', async () => {
  expect(await resume(idOf?.('end'))).toMatchObject({ status: 405 })
  expect(resumed).toEqual([])
})

test('a request of a server that the policy has denied since is not resumed', async () => {
  policy.set(PolicyFile.parse({ rules: [{ server: 's', effect: 'deny' }] }))
  expect(await resume(idOf?.(1))).toMatchObject({ status: 405 })
  expect(resumed).toEqual([])
})

test('the policy decides again about an accepted call whose request was resumed', async () => {
  await resume(idOf?.(1))
  const body = JSON.stringify({ name: 'add', arguments: {} })
  resumed[0]?.[1].listener.onAsk('s.1', POLICY_METHOD, body, 2)
  policy.set(PolicyFile.parse({ rules: [{ tool: 'add', effect: 'deny' }] }))
  resumed[0]?.[1].listener.onAsk('s.2', POLICY_METHOD, body, 3)
  expect(answered).toEqual([
    ['s.1', client, { result: { isAllowed: true } }],
    ['s.2', client, { result: { isAllowed: false } }],
  ])
})

test('a request is resumed only within its session', async () => {
  expect(await resume(idOf?.(1), { 'mcp-session-id': undefined })).toMatchObject({ status: 405 })
  expect(await resume(idOf?.(1), { 'mcp-session-id': 'none' })).toMatchObject({ status: 404 })
  expect(resumed).toEqual([])
})

const encoded = (source: unknown): string => btoa(JSON.stringify(source)).replaceAll('=', '')

test.each([
  ['', 'empty'],
  ['12', 'a number'],
  ['AAAA.1', 'not JSON'],
  [`${encoded({})}.1`, 'not a list'],
  [`${encoded(['a', 'b', 'c'])}.1`, 'a short list'],
  [`${encoded(['a', 'b.>', 'c', 1])}.1`, 'an invalid server name'],
  [`${encoded(['a', 'b', 'c', {}])}.1`, 'an invalid request id'],
  [`${encoded(['a', 'b', 'c', 1])}.-1`, 'an invalid number'],
])('an unknown event id opens the notification stream of the session: %s', async (id) => {
  expect(readEventId(id)).toBeUndefined()
  expect(await read(await resume(id))()).toBe(': open\n\n')
  expect(resumed).toEqual([])
})

test.each([7, 'sieben', 'ä "€"'])('event ids contain the id of their request: %s', (id) => {
  const last = readEventId(eventIds({ kept, request: id, progressToken: id })?.(12) ?? '')
  expect(last).toEqual({ kept, request: id, progressToken: id, number: 12 })
})

test('a stopping gateway ends the streams of clients that can resume', async () => {
  const [primed, earlier] = [call(), call(oldHeaders)]
  for (const { listener } of sent) listener?.onResumable(kept)
  const next = read(await primed)
  expect(await next()).toContain('retry: ')
  closing.abort()
  expect(await next()).toBeUndefined()
  // A server request has an event id, after which the client can resume.
  sent[1]?.listener?.onAsk('s.1', 'roots/list', '{}', 1)
  const nextEvent = read(await earlier)
  expect(await nextEvent()).toContain('roots/list')
  expect(await nextEvent()).toBeUndefined()
})

test('a stopping gateway answers a client that cannot resume', async () => {
  const reply = call(oldHeaders)
  sent[0]?.listener?.onResumable(kept)
  closing.abort()
  settled.resolve(OK)
  expect(await reply).toMatchObject({ status: 200 })
})
