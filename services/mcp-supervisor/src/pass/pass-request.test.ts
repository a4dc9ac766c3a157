import { newEnvelope } from '@mcp-host/contracts'
import type { ForwardOptions } from 'mcp-host'
import { ProtocolError, ServerUnavailableError, TimeoutError, ValidationError } from 'mcp-host'
import { beforeEach, expect, test } from 'vitest'
import type { Era } from './eras.ts'
import type { Answer, PassRequestDeps } from './pass-request.ts'
import { passRequest } from './pass-request.ts'

interface Forwarded {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly options: ForwardOptions
}

let forwarded: Forwarded[]
let answer: (asked: Forwarded) => unknown
let stored: Uint8Array[]
let told: unknown[]
beforeEach(() => {
  forwarded = []
  answer = () => ({ content: [], 'x-new': 1 })
  stored = []
  told = []
})

const envelope = newEnvelope('ann')

async function pass(
  method: string,
  params: unknown,
  { caller = 'legacy', server = 'legacy', progress = false }: Partial<Eras> = {},
): Promise<Answer> {
  const deps: PassRequestDeps = {
    server: 's',
    era: server,
    host: {
      async forward(_, asked, given, options = {}) {
        forwarded.push({ method: asked, params: given, options })
        return answer(forwarded.at(-1)!)
      },
    },
    // It stores and does nothing else.
    bus: {
      blobs: {
        async put(bytes: Uint8Array) {
          stored.push(bytes)
          return { key: 'k', bytes: bytes.length, digest: '' }
        },
      },
    } as unknown as PassRequestDeps['bus'],
  }
  const head = { method, id: 'i', era: caller, progress }
  const body = new TextEncoder().encode(JSON.stringify(params))
  return passRequest(deps, { head, body, envelope }, (part, said) => void told.push([part, said]))
}

interface Eras {
  readonly caller: Era
  readonly server: Era
  readonly progress: boolean
}

const json = ({ body }: Answer): unknown =>
  JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))

test('all that came goes on, and all of the result comes back', async () => {
  const params = { name: 't', arguments: { a: 1 }, more: [1] }
  const passed = await pass('tools/call', params)
  expect([passed.head, json(passed)]).toEqual([{ type: 'result' }, { content: [], 'x-new': 1 }])
  expect(forwarded).toMatchObject([{ method: 'tools/call', params, options: { requestId: 'i' } }])
})

const KEY = 'io.modelcontextprotocol'
const said = {
  [`${KEY}/protocolVersion`]: '2026-07-28',
  [`${KEY}/clientCapabilities`]: { sampling: {} },
  [`${KEY}/logLevel`]: 'debug',
}

test.each<[Era, Era, object]>([
  ['modern', 'modern', { own: 1, ...said }],
  ['modern', 'legacy', { own: 1 }],
  ['legacy', 'modern', { own: 1 }],
])('what a %s caller says of itself to a %s server', async (caller, server, expected) => {
  const _meta = { own: 1, progressToken: 7, ...said }
  await pass('tools/call', { name: 't', _meta }, { caller, server })
  const { traceparent } = envelope
  expect(forwarded[0]?.options.meta).toEqual({ traceparent, ...expected })
})

test('a trace that the caller has goes on', async () => {
  await pass('tools/call', { name: 't', _meta: { traceparent: 'theirs' } })
  expect(forwarded[0]?.options.meta).toEqual({ traceparent: 'theirs' })
})

test.each<[Era, Era, string, object]>([
  ['modern', 'legacy', 'tools/call', { resultType: 'complete', a: 1 }],
  [
    'modern',
    'legacy',
    'resources/read',
    { resultType: 'complete', ttlMs: 0, cacheScope: 'private', a: 1 },
  ],
  ['modern', 'modern', 'tools/call', { a: 1 }],
  ['legacy', 'legacy', 'tools/call', { a: 1 }],
])('a %s caller gets from a %s server to %s %j', async (caller, server, method, expected) => {
  answer = () => ({ a: 1 })
  expect(json(await pass(method, {}, { caller, server }))).toEqual(expected)
})

test('an older caller is not told what only newer ones know', async () => {
  answer = () => ({ resultType: 'complete', ttlMs: 5, cacheScope: 'public', contents: [] })
  const passed = await pass('resources/read', {}, { server: 'modern' })
  expect(json(passed)).toEqual({ contents: [] })
})

test('progress is told where it is wanted', async () => {
  answer = ({ options }) => {
    options.onProgress?.({ progress: 1, total: 2 })
    return {}
  }
  await pass('tools/call', {})
  expect(told).toEqual([])
  await pass('tools/call', {}, { progress: true })
  const notice = { type: 'notice', method: 'notifications/progress' }
  expect(told).toEqual([[notice, '{"progress":1,"total":2}']])
})

test('a result that is too large for a message is stored', async () => {
  answer = () => ({ text: 'ä'.repeat(300_000) })
  expect(await pass('tools/call', {})).toEqual({
    head: { type: 'stored', key: 'k', bytes: stored[0]?.length },
    body: '',
  })
  expect(JSON.parse(new TextDecoder().decode(stored[0]))).toEqual(answer(forwarded[0]!))
  answer = () => ({ text: 'ä'.repeat(100_000) })
  expect((await pass('tools/call', {})).head).toEqual({ type: 'result' })
})

const context = { server: 's' }

test.each<[string, Error, number, object]>([
  [
    'is not there',
    new ServerUnavailableError('away', context),
    -32_000,
    { reason: 'server-unavailable' },
  ],
  [
    'rests',
    new ServerUnavailableError('rests', { ...context, retryAfterMs: 9 }),
    -32_000,
    { retryAfterMs: 9 },
  ],
  ['is too slow', new TimeoutError('slow', 5, context), -32_001, { reason: 'timeout' }],
  ['has no such tool', new ValidationError('none', [], context), -32_602, { server: 's' }],
])('a server that %s', async (_, error, code, data) => {
  answer = () => {
    throw error
  }
  const passed = await pass('tools/call', {})
  expect(passed.head).toEqual({ type: 'error' })
  expect(json(passed)).toMatchObject({ code, message: error.message, data })
})

test.each<Era>(['legacy', 'modern'])(
  'arguments that do not fit are a result that a model sees (%s)',
  async (caller) => {
    answer = () => {
      throw new ValidationError(
        '"a" must be number',
        [{ argument: 'a', expected: 'must be number' }],
        context,
      )
    }
    const passed = await pass('tools/call', {}, { caller })
    expect(passed.head).toEqual({ type: 'result' })
    expect(json(passed)).toEqual({
      ...(caller === 'modern' ? { resultType: 'complete' } : {}),
      isError: true,
      content: [{ type: 'text', text: '"a" must be number' }],
    })
  },
)

test('what is our fault says nothing of what it was', async () => {
  answer = () => {
    throw new Error('a secret')
  }
  const passed = await pass('tools/call', {})
  expect(json(passed)).toEqual({ code: -32_603, message: 'internal error' })
})

test('an error that is too deep to be written is told without what makes it so', async () => {
  let data: unknown = 1
  for (let depth = 0; depth < 20_000; depth++) data = [data]
  answer = () => {
    const error = new ProtocolError('no', 7, context)
    Object.defineProperty(error, 'rpcError', { value: { code: 7, message: 'no', data } })
    throw error
  }
  const passed = await pass('tools/call', {})
  expect([passed.head, json(passed)]).toEqual([{ type: 'error' }, { code: 7, message: 'no' }])
})

test('only a newer caller is handed what a server asks for', async () => {
  await pass('tools/call', {})
  await pass('tools/call', {}, { caller: 'modern' })
  expect(forwarded.map(({ options }) => options.allowInputRequired)).toEqual([false, true])
})
