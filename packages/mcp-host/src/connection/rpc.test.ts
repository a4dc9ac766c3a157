import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { Rpc, RpcClosed, type RpcOptions, RpcSendError, RpcTimeout, RpcUnsendable } from './rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import { UnsentError } from '../transport/unsent-error.ts'

interface Sent {
  readonly message: JSONRPCMessage
  readonly options: TransportSendOptions | undefined
}

let sent: Sent[]
/** What listeners of ours threw. */
let failures: Error[]

beforeEach(() => {
  sent = []
  failures = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function create(options: Partial<RpcOptions> = {}): Rpc {
  return new Rpc({
    send: async (message, sendOptions) => void sent.push({ message, options: sendOptions }),
    meta: () => undefined,
    onListenerError: (error) => void failures.push(error),
    cancelsByStream: () => false,
    ...options,
  })
}

/** What a message has in a field, at whatever depth, as in `params._meta.progressToken`. */
function field(index: number, path: string): unknown {
  const start: unknown = sent[index]?.message
  return path.split('.').reduce((value, key) => Object(value)[key], start)
}

const idOf = (index: number): number => Number(field(index, 'id'))
const answer = (index: number, result: Record<string, unknown>): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: idOf(index),
  result,
})
const progress = (progressToken: unknown): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
})
const settled = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => error)

describe('a request', () => {
  test('gets the result as it came, whatever the order of the answers', async () => {
    const rpc = create()
    const first = rpc.request('a', { x: 1 }, { timeoutMs: 10 })
    const second = rpc.request('b', {}, { timeoutMs: 10 })
    expect(sent[0]?.message).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'a',
      params: { x: 1 },
    })
    expect(rpc.pending).toBe(2)
    const result = { any: ['thing'] }
    expect(rpc.receive(answer(1, {}))).toBe(true)
    expect(rpc.receive(answer(0, result))).toBe(true)
    expect(await first).toBe(result)
    expect(await second).toEqual({})
    expect(rpc.pending).toBe(0)
  })

  test('gets the error of the server', async () => {
    const rpc = create()
    const request = settled(rpc.request('a', {}, { timeoutMs: 10 }))
    const error = { code: -5, message: 'no', data: { why: 1 } }
    rpc.receive({ jsonrpc: '2.0', id: idOf(0), error })
    expect(await request).toBeInstanceOf(RpcError)
    expect(await request).toMatchObject(error)
  })

  test('that is aborted before is not sent', async () => {
    const signal = AbortSignal.abort('no')
    await expect(create().request('a', {}, { timeoutMs: 10, signal })).rejects.toBe('no')
    expect(sent).toEqual([])
  })

  test('that cannot be sent fails, also with what is no error', async () => {
    const failing = create({ send: () => Promise.reject(new Error('broken pipe')) })
    const error = await settled(failing.request('a', {}, { timeoutMs: 10 }))
    expect(error).toBeInstanceOf(RpcSendError)
    expect(error).toMatchObject({ message: 'broken pipe', cause: expect.any(Error) })
    const odd = create({ send: () => Promise.reject('gone') })
    await expect(odd.request('a', {}, { timeoutMs: 10 })).rejects.toThrow('gone')
  })

  test.each([
    ['at once', (message: JSONRPCMessage) => void JSON.stringify(message)],
    ['later', async (message: JSONRPCMessage) => void JSON.stringify(message)],
  ])('that is no JSON fails, told %s by the transport, and nothing waits', async (_title, send) => {
    const rpc = create({ send: send as RpcOptions['send'] })
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const value of [1n, cycle]) {
      const error = await settled(rpc.request('a', { value }, { timeoutMs: 10 }))
      expect(error).toBeInstanceOf(RpcUnsendable)
    }
    expect(rpc.pending).toBe(0)
  })

  const http = (status: number, text: string): RpcOptions['send'] => {
    const { ClientHttpNotImplemented: code } = SdkErrorCode
    return () => Promise.reject(new SdkHttpError(code, 'Error', { status, text }))
  }

  test('gets the error of the server also in the body of an HTTP error', async () => {
    const error = { code: -32_601, message: 'no such thing', data: 7 }
    const rpc = create({ send: http(404, JSON.stringify({ jsonrpc: '2.0', id: null, error })) })
    const failed = await settled(rpc.request('a', {}, { timeoutMs: 10 }))
    expect(failed).toBeInstanceOf(RpcError)
    expect(failed).toMatchObject(error)
  })

  test('gets an error without a code in the body of an HTTP error', async () => {
    const body = '{"jsonrpc":"2.0","error":{"message":"no"}}'
    const failed = await settled(
      create({ send: http(500, body) }).request('a', {}, { timeoutMs: 10 }),
    )
    expect(failed).toMatchObject({ name: 'RpcError', code: -32_603, message: 'no' })
  })

  test('was answered when the transport cannot read the answer', async () => {
    const parse = (): Promise<void> => Promise.reject(JSONRPCMessageSchema.safeParse({}).error)
    const failed = await settled(create({ send: parse }).request('a', {}, { timeoutMs: 10 }))
    expect(failed).toMatchObject({
      name: 'RpcError',
      message: 'its answer is not a message of JSON-RPC',
    })
  })

  test.each([
    ['a page', '<html></html>'],
    ['an error of another protocol', '{"error":{"message":"no"}}'],
    ['an error that is none', '{"error":"no"}'],
    ['nothing', ''],
    ['a session that is gone', '{"error":{"code":-32001,"message":"Session not found"}}'],
  ])('is one that was not sent where the body of an HTTP error is %s', async (_title, body) => {
    const failed = await settled(
      create({ send: http(404, body) }).request('a', {}, { timeoutMs: 10 }),
    )
    expect(failed).toBeInstanceOf(RpcSendError)
  })

  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const reset = Object.assign(new Error('read'), { code: 'ECONNRESET' })
  const fails = (cause: unknown) => () => Promise.reject(cause)
  test.each<[string, RpcOptions['send'], boolean]>([
    ['a transport that says so', fails(new UnsentError('closed')), false],
    ['no stream yet', fails(new SdkError(SdkErrorCode.NotConnected, 'Not connected')), false],
    ['no connection', fails(new TypeError('fetch failed', { cause: refused })), false],
    ['a request that is refused', http(429, 'slow down'), false],
    ['a broken connection', fails(new TypeError('fetch failed', { cause: reset })), true],
    ['a server or a proxy at fault', http(503, 'no'), true],
    ['what nobody knows', fails('gone'), true],
  ])('with %s, tells whether it may have begun', async (_title, send, mayHaveBegun) => {
    const failed = await settled(create({ send }).request('a', {}, { timeoutMs: 10 }))
    expect(failed).toMatchObject({ name: 'RpcSendError', mayHaveBegun })
  })

  test('waits for nothing once the connection is closed', async () => {
    const rpc = create()
    const waiting = [1, 2].map(() => settled(rpc.request('a', {}, { timeoutMs: 10 })))
    rpc.close('exited with code 1')
    rpc.close('and again')
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(RpcClosed)
      expect(error).toMatchObject({ message: 'exited with code 1' })
    }
    await expect(rpc.request('a', {}, { timeoutMs: 10 })).rejects.toThrow('exited with code 1')
    expect(sent).toHaveLength(2)
  })

  test('whose own stream ends fails', async () => {
    const rpc = create()
    const request = settled(rpc.request('a', {}, { timeoutMs: 10 }))
    sent[0]?.options?.onRequestStreamEnd?.()
    expect(await request).toBeInstanceOf(RpcClosed)
  })

  test('carries headers, and metadata below that of its caller', async () => {
    const rpc = create({ meta: () => ({ own: 1, both: 'host' }) })
    const headers = { 'Mcp-Param-A': '1' }
    const params = { x: 1, _meta: { both: 'caller' } }
    const request = rpc.request('a', params, {
      timeoutMs: 10,
      headers,
      onProgress: () => undefined,
    })
    expect(sent[0]?.options).toMatchObject({ headers })
    expect(field(0, 'params')).toEqual({
      x: 1,
      _meta: { own: 1, both: 'caller', progressToken: idOf(0) },
    })
    rpc.receive(answer(0, {}))
    await request
  })

  test('asks for progress only where that is of use', async () => {
    const rpc = create()
    const requests = [
      rpc.request('a', {}, { timeoutMs: 10 }),
      rpc.request('b', {}, { timeoutMs: 10, maxTimeoutMs: 20 }),
      rpc.request('c', {}, { timeoutMs: 10, onProgress: () => undefined }),
    ]
    const tokens = [0, 1, 2].map((index) => field(index, 'params._meta.progressToken'))
    expect(tokens).toEqual([undefined, idOf(1), idOf(2)])
    for (const index of [0, 1, 2]) rpc.receive(answer(index, {}))
    await Promise.all(requests)
  })
})

test('a listener to progress that throws, or rejects, is told of and costs nobody anything', async () => {
  const rpc = create()
  const fault = new Error('a fault of the caller')
  const listeners = [
    () => {
      throw fault
    },
    () => Promise.reject(fault),
  ]
  const requests = listeners.map((onProgress) =>
    rpc.request('a', {}, { timeoutMs: 10, onProgress }),
  )
  for (const index of [0, 1]) rpc.receive(progress(idOf(index)))
  await Promise.resolve()
  for (const index of [0, 1]) rpc.receive(answer(index, {}))
  expect(await Promise.all(requests)).toEqual([{}, {}])
  expect(failures).toMatchObject([
    { message: 'onProgress failed', cause: fault },
    { message: 'onProgress failed', cause: fault },
  ])
})

test('a request is not silent while it is held, though it may not take longer than the most', async () => {
  const rpc = create()
  const request = settled(rpc.request('a', {}, { timeoutMs: 1000, maxTimeoutMs: 4500 }))
  const held = rpc.hold()
  await vi.advanceTimersByTimeAsync(3000)
  held[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(999)
  expect(rpc.pending).toBe(1)
  rpc.hold()
  await vi.advanceTimersByTimeAsync(501)
  expect(await request).toMatchObject({ limitMs: 4500 })
})

describe('the time of a request', () => {
  test('ends with a cancellation at the server', async () => {
    const rpc = create()
    const request = settled(rpc.request('a', {}, { timeoutMs: 1000 }))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await request).toBeInstanceOf(RpcTimeout)
    expect(await request).toMatchObject({ limitMs: 1000 })
    expect(sent[1]?.message).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: idOf(0), reason: 'it took too long' },
    })
    // Too late, and of no use to anybody.
    expect(rpc.receive(answer(0, {}))).toBe(true)
    expect(rpc.receive(progress(idOf(0)))).toBe(true)
  })

  test('is not that of a cancellation that cannot be sent', async () => {
    const rpc = create({
      send: async (message) => {
        if ('method' in message && message.method !== 'a') throw new Error('broken pipe')
      },
    })
    const request = settled(rpc.request('a', {}, { timeoutMs: 1000 }))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await request).toBeInstanceOf(RpcTimeout)
  })

  test('begins anew with each progress, up to the most', async () => {
    const rpc = create()
    const request = settled(rpc.request('a', {}, { timeoutMs: 1000, maxTimeoutMs: 1800 }))
    await vi.advanceTimersByTimeAsync(900)
    rpc.receive(progress(idOf(0)))
    await vi.advanceTimersByTimeAsync(899)
    expect(rpc.pending).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await request).toMatchObject({ limitMs: 1800 })
  })

  test('may be longer than a timer can hold', async () => {
    const rpc = create()
    const options = { timeoutMs: Infinity, onProgress: () => undefined }
    const request = rpc.request('a', {}, options)
    rpc.receive(progress(idOf(0)))
    await vi.advanceTimersByTimeAsync(1_000_000)
    expect(rpc.pending).toBe(1)
    rpc.receive(answer(0, {}))
    await request
  })
})

test('a request that has a stream of its own is cancelled by the end of that', async () => {
  const rpc = create({ hasStreams: true, cancelsByStream: () => true })
  const abort = new AbortController()
  const request = settled(rpc.request('a', {}, { timeoutMs: 1000, signal: abort.signal }))
  const late = settled(rpc.request('b', {}, { timeoutMs: 1000 }))
  abort.abort('enough')
  expect(await request).toBe('enough')
  expect(sent[0]?.options?.requestSignal?.aborted).toBe(true)
  expect(sent[1]?.options?.requestSignal?.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await late).toBeInstanceOf(RpcTimeout)
  expect(sent[1]?.options?.requestSignal?.aborted).toBe(true)
  expect(sent).toHaveLength(2)
})

test('what is still to come of a timed-out answer is not read, and an older server is told as well', async () => {
  const rpc = create({ hasStreams: true })
  const late = settled(rpc.request('a', {}, { timeoutMs: 1000 }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(await late).toBeInstanceOf(RpcTimeout)
  expect(sent[0]?.options?.requestSignal?.aborted).toBe(true)
  expect(field(1, 'method')).toBe('notifications/cancelled')
})

test('only answers to requests that wait are awaited', async () => {
  const rpc = create()
  const request = rpc.request('a', {}, { timeoutMs: 1000 })
  const message = answer(0, {})
  expect(rpc.awaits(message)).toBe(true)
  expect(rpc.awaits({ jsonrpc: '2.0', id: 0, result: {} })).toBe(false)
  expect(rpc.awaits({ jsonrpc: '2.0', id: idOf(0), method: 'ping' })).toBe(false)
  rpc.receive(message)
  expect(rpc.awaits(message)).toBe(false)
  await request
})

test('progress under a token as a text is progress', async () => {
  const rpc = create()
  const told: unknown[] = []
  const onProgress = (each: unknown): void => void told.push(each)
  const request = rpc.request('a', {}, { timeoutMs: 1000, onProgress })
  expect(rpc.receive(progress(String(idOf(0))))).toBe(true)
  rpc.receive(answer(0, {}))
  await request
  expect(told).toEqual([{ progress: 1 }])
})

test('messages of others are left to them', () => {
  const rpc = create()
  expect(rpc.receive({ jsonrpc: '2.0', id: 0, result: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', id: 'listen:1', result: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', method: 'notifications/message', params: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', id: 7, method: 'ping' })).toBe(false)
  expect(rpc.receive(progress('theirs'))).toBe(false)
  expect(rpc.receive(progress(3))).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', method: 'notifications/progress' })).toBe(false)
})
