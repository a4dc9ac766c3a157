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
import { UnsentError } from '../errors/unsent-error.ts'

interface Sent {
  readonly message: JSONRPCMessage
  readonly options: TransportSendOptions | undefined
}

let sent: Sent[]
/** Errors that the listeners of the tests threw. */
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

/** The value at a path of a sent message, as in `params._meta.progressToken`. */
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
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => error)

describe('a request', () => {
  test('a request gets its result as received, whatever the order of the answers', async () => {
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

  test('a request gets the error of the server', async () => {
    const rpc = create()
    const request = errorOf(rpc.request('a', {}, { timeoutMs: 10 }))
    const error = { code: -5, message: 'no', data: { why: 1 } }
    rpc.receive({ jsonrpc: '2.0', id: idOf(0), error })
    expect(await request).toBeInstanceOf(RpcError)
    expect(await request).toMatchObject(error)
  })

  test('a request that was aborted before is not sent', async () => {
    const signal = AbortSignal.abort('no')
    await expect(create().request('a', {}, { timeoutMs: 10, signal })).rejects.toBe('no')
    expect(sent).toEqual([])
  })

  test('a request that cannot be sent fails, even if the transport rejects with a value that is no error', async () => {
    const failing = create({ send: () => Promise.reject(new Error('broken pipe')) })
    const error = await errorOf(failing.request('a', {}, { timeoutMs: 10 }))
    expect(error).toBeInstanceOf(RpcSendError)
    expect(error).toMatchObject({ message: 'broken pipe', cause: expect.any(Error) })
    const unusual = create({ send: () => Promise.reject('gone') })
    await expect(unusual.request('a', {}, { timeoutMs: 10 })).rejects.toThrow('gone')
  })

  test.each([
    ['synchronously', (message: JSONRPCMessage) => void JSON.stringify(message)],
    ['asynchronously', async (message: JSONRPCMessage) => void JSON.stringify(message)],
  ])(
    'a request that cannot be written as JSON fails when the transport throws %s',
    async (_title, send) => {
      const rpc = create({ send: send as RpcOptions['send'] })
      const cycle: Record<string, unknown> = {}
      cycle['self'] = cycle
      for (const value of [1n, cycle]) {
        const error = await errorOf(rpc.request('a', { value }, { timeoutMs: 10 }))
        expect(error).toBeInstanceOf(RpcUnsendable)
      }
      expect(rpc.pending).toBe(0)
    },
  )

  const http = (status: number, text: string): RpcOptions['send'] => {
    const { ClientHttpNotImplemented: code } = SdkErrorCode
    return () => Promise.reject(new SdkHttpError(code, 'Error', { status, text }))
  }

  test('a request gets the JSON-RPC error in the body of an HTTP error', async () => {
    const error = { code: -32_601, message: 'no such thing', data: 7 }
    const rpc = create({ send: http(404, JSON.stringify({ jsonrpc: '2.0', id: null, error })) })
    const failed = await errorOf(rpc.request('a', {}, { timeoutMs: 10 }))
    expect(failed).toBeInstanceOf(RpcError)
    expect(failed).toMatchObject(error)
  })

  test('a request gets a JSON-RPC error without a code in the body of an HTTP error', async () => {
    const body = '{"jsonrpc":"2.0","error":{"message":"no"}}'
    const failed = await errorOf(
      create({ send: http(500, body) }).request('a', {}, { timeoutMs: 10 }),
    )
    expect(failed).toMatchObject({ name: 'RpcError', code: -32_603, message: 'no' })
  })

  test('a request fails with an error of the server when the transport cannot parse the answer', async () => {
    const parse = (): Promise<void> => Promise.reject(JSONRPCMessageSchema.safeParse({}).error)
    const failed = await errorOf(create({ send: parse }).request('a', {}, { timeoutMs: 10 }))
    expect(failed).toMatchObject({
      name: 'RpcError',
      message: 'its answer is not a message of JSON-RPC',
    })
  })

  test.each([
    ['an HTML page', '<html></html>'],
    ['an error of another protocol', '{"error":{"message":"no"}}'],
    ['a string as the error', '{"error":"no"}'],
    ['empty', ''],
  ])('a request counts as not sent when the body of an HTTP error is %s', async (_title, body) => {
    const failed = await errorOf(
      create({ send: http(404, body) }).request('a', {}, { timeoutMs: 10 }),
    )
    expect(failed).toBeInstanceOf(RpcSendError)
  })

  test('a request of a session that is not known gets an error that says so', async () => {
    const send = http(404, '{"error":{"code":-32001,"message":"Session not found"}}')
    const ask = (hasSession: boolean) =>
      errorOf(create({ send, hasSession: () => hasSession }).request('a', {}, { timeoutMs: 10 }))
    expect(await ask(true)).toMatchObject({ name: 'RpcSendError', isSessionLost: true })
    expect(await ask(false)).toBeInstanceOf(RpcError)
  })

  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const reset = Object.assign(new Error('read'), { code: 'ECONNRESET' })
  const fails = (cause: unknown) => () => Promise.reject(cause)
  test.each<[string, RpcOptions['send'], boolean]>([
    ['an unsent error', fails(new UnsentError('closed')), false],
    [
      'a transport without a stream',
      fails(new SdkError(SdkErrorCode.NotConnected, 'Not connected')),
      false,
    ],
    ['a refused connection', fails(new TypeError('fetch failed', { cause: refused })), false],
    ['the status 429', http(429, 'slow down'), false],
    ['a reset connection', fails(new TypeError('fetch failed', { cause: reset })), true],
    ['the status 503', http(503, 'no'), true],
    ['an unknown error', fails('gone'), true],
  ])(
    'a request that fails with %s reports whether it may have begun',
    async (_title, send, mayHaveBegun) => {
      const failed = await errorOf(create({ send }).request('a', {}, { timeoutMs: 10 }))
      expect(failed).toMatchObject({ name: 'RpcSendError', mayHaveBegun })
    },
  )

  test('requests fail once the connection is closed', async () => {
    const rpc = create()
    const waiting = [1, 2].map(() => errorOf(rpc.request('a', {}, { timeoutMs: 10 })))
    rpc.close('exited with code 1')
    rpc.close('and again')
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(RpcClosed)
      expect(error).toMatchObject({ message: 'exited with code 1' })
    }
    await expect(rpc.request('a', {}, { timeoutMs: 10 })).rejects.toThrow('exited with code 1')
    expect(sent).toHaveLength(2)
  })

  test('a request fails when its own stream ends', async () => {
    const rpc = create()
    const request = errorOf(rpc.request('a', {}, { timeoutMs: 10 }))
    sent[0]?.options?.onRequestStreamEnd?.()
    expect(await request).toBeInstanceOf(RpcClosed)
  })

  test('a request carries its headers, and the metadata of its caller takes precedence', async () => {
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

  test('a request asks for progress only if progress extends its time or has a listener', async () => {
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

test('a progress listener that throws or rejects is reported and does not affect its request', async () => {
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

test('a request that is held does not time out before its maximum time', async () => {
  const rpc = create()
  const request = errorOf(rpc.request('a', {}, { timeoutMs: 1000, maxTimeoutMs: 4500 }))
  const held = rpc.hold()
  await vi.advanceTimersByTimeAsync(3000)
  held[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(999)
  expect(rpc.pending).toBe(1)
  rpc.hold()
  await vi.advanceTimersByTimeAsync(501)
  expect(await request).toMatchObject({ limitMs: 4500 })
})

describe('the time limit of a request', () => {
  test('the time limit of a request cancels it at the server', async () => {
    const rpc = create()
    const request = errorOf(rpc.request('a', {}, { timeoutMs: 1000 }))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await request).toBeInstanceOf(RpcTimeout)
    expect(await request).toMatchObject({ limitMs: 1000 })
    expect(sent[1]?.message).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: idOf(0), reason: 'it took too long' },
    })
    // The late answer and progress are dropped.
    expect(rpc.receive(answer(0, {}))).toBe(true)
    expect(rpc.receive(progress(idOf(0)))).toBe(true)
  })

  test('a request that times out reports the timeout even if the cancellation cannot be sent', async () => {
    const rpc = create({
      send: async (message) => {
        if ('method' in message && message.method !== 'a') throw new Error('broken pipe')
      },
    })
    const request = errorOf(rpc.request('a', {}, { timeoutMs: 1000 }))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await request).toBeInstanceOf(RpcTimeout)
  })

  test('progress extends the time limit of a request up to the maximum', async () => {
    const rpc = create()
    const request = errorOf(rpc.request('a', {}, { timeoutMs: 1000, maxTimeoutMs: 1800 }))
    await vi.advanceTimersByTimeAsync(900)
    rpc.receive(progress(idOf(0)))
    await vi.advanceTimersByTimeAsync(899)
    expect(rpc.pending).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await request).toMatchObject({ limitMs: 1800 })
  })

  test('the time limit of a request may be longer than a timer can hold', async () => {
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

test('a request with a stream of its own is cancelled by closing the stream', async () => {
  const rpc = create({ hasStreams: true, cancelsByStream: () => true })
  const abort = new AbortController()
  const request = errorOf(rpc.request('a', {}, { timeoutMs: 1000, signal: abort.signal }))
  const late = errorOf(rpc.request('b', {}, { timeoutMs: 1000 }))
  abort.abort('enough')
  expect(await request).toBe('enough')
  expect(sent[0]?.options?.requestSignal?.aborted).toBe(true)
  expect(sent[1]?.options?.requestSignal?.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await late).toBeInstanceOf(RpcTimeout)
  expect(sent[1]?.options?.requestSignal?.aborted).toBe(true)
  expect(sent).toHaveLength(2)
})

test('the stream of a request that timed out is closed, and an older server gets a cancellation as well', async () => {
  const rpc = create({ hasStreams: true })
  const late = errorOf(rpc.request('a', {}, { timeoutMs: 1000 }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(await late).toBeInstanceOf(RpcTimeout)
  expect(sent[0]?.options?.requestSignal?.aborted).toBe(true)
  expect(field(1, 'method')).toBe('notifications/cancelled')
})

test('a request awaits its answer, and no other message', async () => {
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

test('progress whose token is a string is delivered', async () => {
  const rpc = create()
  const reports: unknown[] = []
  const onProgress = (each: unknown): void => void reports.push(each)
  const request = rpc.request('a', {}, { timeoutMs: 1000, onProgress })
  expect(rpc.receive(progress(String(idOf(0))))).toBe(true)
  rpc.receive(answer(0, {}))
  await request
  expect(reports).toEqual([{ progress: 1 }])
})

test('messages that answer no request are left to other handlers', () => {
  const rpc = create()
  expect(rpc.receive({ jsonrpc: '2.0', id: 0, result: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', id: 'listen:1', result: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', method: 'notifications/message', params: {} })).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', id: 7, method: 'ping' })).toBe(false)
  expect(rpc.receive(progress('theirs'))).toBe(false)
  expect(rpc.receive(progress(3))).toBe(false)
  expect(rpc.receive({ jsonrpc: '2.0', method: 'notifications/progress' })).toBe(false)
})
