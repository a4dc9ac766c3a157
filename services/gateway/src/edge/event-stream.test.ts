import { setImmediate as tick } from 'node:timers/promises'
import { PassThrough } from 'node:stream'
import type { Logger } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SseFrame } from '../projection/sse.ts'
import type { Follow } from './event-stream.ts'
import { sendEvents } from './event-stream.ts'

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
    // Only what a stream uses.
    logger: { error: (fields: unknown) => void logged.push(fields) } as unknown as Logger,
    draining: draining.signal,
  }
  // Here and above only what a stream uses of it.
  const reply = {
    raw: Object.assign(raw, {
      writeHead: (_: number, given: Record<string, string>) => {
        headers = given
      },
    }),
    request: { url: '/stream?after=secret' },
    getHeaders: () => ({ vary: 'Origin' }),
    hijack: () => undefined,
    // Only what a stream uses.
  } as unknown as FastifyReply
  return sendEvents(deps, reply, follow)
}

function frame(content: string, id?: string): SseFrame {
  return { id, data: { type: 'content', content } }
}

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await tick()
}

test('frames are sent with their ids, then the answer ends', async () => {
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
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
})

test('a client that left before there was something to send holds nothing up', async () => {
  raw.destroy()
  let isFollowed = false
  await send(async function* () {
    isFollowed = true
    yield frame('one')
  })
  expect(isFollowed).toBe(false)
})

test('a client that does not read is not buffered for, and gets all of it when it does', async () => {
  let taken = 0
  const sent = send(async function* () {
    while (taken < 500) yield frame(`${taken++} `.padEnd(200, '.'))
  })
  await settle()
  expect(taken).toBeLessThan(20)
  let text = ''
  for await (const chunk of raw) text += String(chunk)
  await sent
  expect(text.match(/\d+ \./g)).toHaveLength(500)
})

test('what is sent aside waits for room, and only the last of it counts', async () => {
  let aside: ((frame: SseFrame) => void) | undefined
  const sent = send(async function* (_, given) {
    aside = given
    yield frame('x'.repeat(3_000))
    given(frame('now there is room'))
  })
  await settle()
  aside?.(frame('an old state'))
  aside?.(frame('the new state'))
  let text = ''
  for await (const chunk of raw) text += String(chunk)
  await sent
  expect(text).not.toContain('an old state')
  expect(text).toMatch(/the new state.*now there is room/s)
})

test('a client that leaves ends the following, also while it is waited for', async () => {
  let hasEnded = false
  let signal: AbortSignal | undefined
  const sent = send(async function* (given) {
    signal = given
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

test('a gateway that drains says so and ends the stream', async () => {
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

test('a stream that breaks off says so, and the log has why without the query', async () => {
  await send(async function* () {
    yield frame('before')
    throw new Error('a fault of ours')
  })
  expect(raw.read()).toMatch(/\n: the stream broke off[^\n]*\n\n$/)
  expect(logged).toMatchObject([{ path: '/stream', err: { message: 'a fault of ours' } }])
})

test('a comment every 15 seconds keeps the connection, but not in front of one who does not read', async () => {
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
