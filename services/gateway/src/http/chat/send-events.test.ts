import { setImmediate as tick } from 'node:timers/promises'
import { PassThrough } from 'node:stream'
import { newEnvelope } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SseFrame } from '../../projection/sse.ts'
import type { Follow } from './send-events.ts'
import { sendEvents } from './send-events.ts'

let raw: PassThrough
let headers: Record<string, string>
let draining: AbortController
let logged: unknown[]
beforeEach(() => {
  raw = new PassThrough({ highWaterMark: 1_000 })
  raw.setEncoding('utf8')
  draining = new AbortController()
  logged = []
})
afterEach(() => {
  vi.useRealTimers()
})

function send(follow: Follow): Promise<void> {
  const deps = {
    // sendEvents uses only these members of the logger and, below, of the reply.
    logger: { error: (fields: unknown) => void logged.push(fields) } as unknown as Logger,
    draining: draining.signal,
  }
  const reply = {
    raw: Object.assign(raw, {
      writeHead: (_: number, sent: Record<string, string>) => {
        headers = sent
      },
    }),
    request: {
      url: '/secret?after=secret',
      routeOptions: { url: '/:token' },
      envelope: newEnvelope('local'),
    },
    getHeaders: () => ({ vary: 'Origin' }),
    hijack: () => undefined,
    // Only the members that sendEvents uses.
  } as unknown as FastifyReply
  return sendEvents(deps, reply, follow)
}

function frame(content: string, id?: string): SseFrame {
  return { id, data: { type: 'content', content } }
}

/** Resolves after all pending work that waits for no I/O. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await tick()
}

test('frames are sent with their ids before the end of the stream', async () => {
  await send(async function* () {
    yield frame('one\ntwo', '1.0.-.0')
    yield frame('three')
  })
  expect(raw.read()).toBe(
    'retry: 500\n\n' +
      'id: 1.0.-.0\ndata: {"type":"content","content":"one\\ntwo"}\n\n' +
      'data: {"type":"content","content":"three"}\n\n',
  )
  expect(raw.writableEnded).toBe(true)
  expect(headers).toEqual({
    vary: 'Origin',
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  })
})

test('a stream whose client has left does not follow the session', async () => {
  raw.destroy()
  let isFollowed = false
  await send(async function* () {
    isFollowed = true
    yield frame('one')
  })
  expect(isFollowed).toBe(false)
})

test('frames are not buffered for a client that does not read', async () => {
  let produced = 0
  const sent = send(async function* () {
    while (produced < 500) yield frame(`${produced++} `.padEnd(200, '.'))
  })
  await settle()
  expect(produced).toBeLessThan(20)
  let text = ''
  for await (const chunk of raw) text += String(chunk)
  await sent
  expect(text.match(/\d+ \./g)).toHaveLength(500)
})

test('only the latest frame that is sent aside waits for room in the buffer', async () => {
  let sendAside: ((frame: SseFrame) => void) | undefined
  const sent = send(async function* (_, aside) {
    sendAside = aside
    yield frame('x'.repeat(3_000))
    aside(frame('after the buffer has room'))
  })
  await settle()
  sendAside?.(frame('an old state'))
  sendAside?.(frame('the new state'))
  let text = ''
  for await (const chunk of raw) text += String(chunk)
  await sent
  expect(text).not.toContain('an old state')
  expect(text).toMatch(/the new state.*after the buffer has room/s)
})

test('a client that leaves ends its stream, also while the stream waits for room', async () => {
  let hasEnded = false
  let signal: AbortSignal | undefined
  const sent = send(async function* (streamSignal) {
    signal = streamSignal
    try {
      for (let count = 0; count < 1_000; count++) yield frame('x'.repeat(500))
    } finally {
      hasEnded = true
    }
  })
  await settle()
  expect(signal?.aborted).toBe(false)
  raw.destroy()
  await sent
  expect(signal?.aborted).toBe(true)
  expect(hasEnded).toBe(true)
  expect(logged).toEqual([])
})

test('a draining gateway ends its streams with a comment', async () => {
  const sent = send(async function* (signal) {
    yield frame('before')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await settle()
  draining.abort()
  await sent
  const text = String(raw.read())
  expect(text).toContain('before')
  expect(text).toMatch(/\n: this gateway is going down[^\n]*\n\n$/)
  expect(raw.writableEnded).toBe(true)
})

test('a failed stream ends with a comment, and the error is logged with the route alone', async () => {
  await send(async function* () {
    yield frame('before')
    throw new Error('an internal error')
  })
  expect(raw.read()).toMatch(/\n: the stream broke off[^\n]*\n\n$/)
  expect(JSON.stringify(logged)).not.toContain('secret')
  expect(logged).toMatchObject([{ route: '/:token', err: { message: 'an internal error' } }])
})

test('a heartbeat comment is sent every 15 seconds, except to a client that does not read', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const next = Promise.withResolvers<void>()
  const sent = send(async function* () {
    await next.promise
    yield frame('x'.repeat(3_000))
  })
  raw.read()
  vi.advanceTimersByTime(30_000)
  expect(raw.read()).toBe(': still here\n\n: still here\n\n')
  next.resolve()
  await settle()
  vi.advanceTimersByTime(60_000)
  let text = ''
  for await (const chunk of raw) text += String(chunk)
  await sent
  expect(text).not.toContain('still here')
  expect(vi.getTimerCount()).toBe(0)
})
