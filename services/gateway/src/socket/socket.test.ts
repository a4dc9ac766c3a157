import { EventEmitter, once } from 'node:events'
import type { Bus, FollowItem } from '@mcp-host/bus'
import type { Down } from '@mcp-host/contracts'
import { formatCursor, cursorAfter, LOCAL } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { FastifyRequest } from 'fastify'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import type { AnsweredRequest, GatewayEvents } from '../events.ts'
import { GatewayAudit } from '../gateway-audit.ts'
import { UNLIMITED } from '../limits/unlimited.ts'
import { endOf, SESSION, Story } from '../projection/__fixtures__/story.ts'
import type { SocketDeps } from '../connection/socket-deps.ts'
import { serveSocket } from './socket.ts'

/** The end of a socket that the gateway holds. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  readonly bufferedAmount = 0
  readonly frames: Down[] = []
  closed: unknown[] = []

  send(frame: string): void {
    this.frames.push(JSON.parse(frame) as Down)
  }
  close(code: number, reason: string): void {
    this.closed = [code, reason]
    this.emit('close')
  }
  say(frame: unknown): void {
    this.emit('message', Buffer.from(JSON.stringify(frame)), false)
  }
  pause(): void {}
  resume(): void {
    this.emit('resumed')
  }
  ping(): void {}
}

let story: Story
let socket: FakeSocket
let draining: AbortController
let appended: unknown[]
let answered: AnsweredRequest[]
let isDeleted: boolean
/** From where the log was read. */
let readAfter: number | undefined
beforeEach(() => {
  story = new Story()
  socket = new FakeSocket()
  draining = new AbortController()
  appended = []
  answered = []
  isDeleted = false
  readAfter = undefined
})

/** Serves the socket until it is closed. */
async function serve(query: object): Promise<void> {
  async function* follow(
    _: unknown,
    { after, signal }: { after: number; signal: AbortSignal },
  ): AsyncGenerator<FollowItem> {
    readAfter = after
    for (const item of story.items) if (item.type === 'entry' && item.entry.seq > after) yield item
    yield { type: 'caught-up' }
    if (!signal.aborted) await once(signal, 'abort')
  }
  const silent = () => undefined
  const state = isDeleted ? 'deleted' : 'active'
  const bus = {
    sessions: {
      follow,
      listen: async () => ({ ...endOf(story.entries), [Symbol.dispose]: silent }),
      append: async (_: unknown, fact: unknown) => {
        appended.push(fact)
        return { seq: 1, duplicate: false }
      },
    },
    directory: { get: async () => ({ record: { state }, revision: 1 }) },
    storage: { checkRoom: async () => undefined },
  }
  const requestAnswered: GatewayEvents['requestAnswered'] = (frame) => void answered.push(frame)
  const counted = { socketOpened: silent, socketClosed: silent, messageAccepted: silent }
  const events = { ...counted, requestAnswered }
  // Here only what serving a socket uses.
  const deps = {
    bus: bus as unknown as Bus,
    logger: { info: silent, warn: silent, error: silent } as unknown as Logger,
    events: events as unknown as SocketDeps['events'],
    connections: new Set(),
    signSession: (random) => random,
    welcome: () => 'Welcome',
    limits: UNLIMITED,
    maintenance: { check: () => undefined },
    audit: new GatewayAudit(undefined),
    draining: draining.signal,
  } as SocketDeps
  // serveSocket reads only these members.
  const request = { query, headers: {}, principal: LOCAL } as unknown as FastifyRequest
  const options = { heartbeatMs: 60_000 }
  await serveSocket(deps, socket as unknown as WebSocket, request, options)
}

test('each frame is counted by its type and outcome, and one that is no frame as other', async () => {
  const over = serve({})
  await once(socket, 'resumed')
  socket.say({ type: 'message', payload: { text: 'hi', id: 'm1' } })
  socket.say({ type: 'answer', payload: { id: 'q', action: 'accept' } })
  socket.say({ type: 'ping' })
  socket.say({ type: 'made-up' })
  await expect
    .poll(() => answered.map(({ method, outcome }) => `${method} ${outcome}`).toSorted())
    .toEqual(['answer error', 'message ok', 'other refused', 'ping ok'])
  expect(answered.every(({ entrance, seconds }) => entrance === 'socket' && seconds >= 0)).toBe(
    true,
  )
  socket.close(1000, '')
  await over
})

test('a frame of a client that ignores the close frame is not taken', async () => {
  const over = serve({})
  await once(socket, 'resumed')
  socket.readyState = 2
  socket.say({ type: 'message', payload: { text: 'hi', id: 'm1' } })
  socket.say({ type: 'made-up' })
  expect(answered).toEqual([])
  socket.close(1008, '')
  await over
  expect(appended).toEqual([])
})

describe('draining gateways', () => {
  const message = 'This gateway is going down; connect again'

  test('a draining gateway closes new sockets with the request to reconnect', async () => {
    draining.abort()
    await serve({})
    expect(socket.frames).toEqual([
      { type: 'connection', payload: { state: 'reconnecting', message } },
    ])
    expect(socket.closed).toEqual([1012, message])
  })

  test('a draining gateway refuses messages but accepts answers', async () => {
    const over = serve({})
    await once(socket, 'resumed')
    draining.abort()
    socket.say({ type: 'message', payload: { text: 'hi', id: 'm1' } })
    socket.say({ type: 'cancel' })
    socket.say({ type: 'ping' })
    const { sessionId } = (socket.frames[0] as { payload: { sessionId: string } }).payload
    const error = { code: 'unavailable', message, retryable: true, sessionId }
    expect(socket.frames.slice(1)).toEqual([
      { type: 'error', payload: { ...error, messageId: 'm1' } },
      { type: 'error', payload: error },
      { type: 'pong' },
    ])
    expect(appended).toEqual([])
    socket.emit('close')
    await over
  })
})

describe('deleted sessions', () => {
  test('a deleted session cannot be joined', async () => {
    isDeleted = true
    await serve({ sessionId: SESSION })
    const message = 'this session was deleted'
    const payload = { state: 'error', message, sessionId: SESSION }
    expect(socket.frames).toEqual([{ type: 'connection', payload }])
    expect(socket.closed).toEqual([1008, message])
  })

  test('the sockets of a session are closed when it is deleted', async () => {
    story.delete()
    story.input('too late')
    await serve({ sessionId: SESSION })
    expect(socket.frames.at(-1)).toMatchObject({ type: 'session', payload: { state: 'deleted' } })
    expect(socket.closed).toEqual([1000, 'session deleted'])
  })
})

test('a socket that resumes at an early cursor gets all later events', async () => {
  const first = story.input('one', 'm1')
  story.claim(first)
  story.done()
  story.claim(story.input('two', 'm2'))
  const over = serve({ sessionId: SESSION, after: formatCursor(cursorAfter(first.seq)) })
  await once(socket, 'resumed')
  socket.emit('close')
  await over
  expect(readAfter).toBe(first.seq)
})

test('a socket that resumes gets the whole queue, also messages before its cursor', async () => {
  const first = story.input('one', 'm1')
  story.input('two', 'm2')
  story.claim(first)
  const place = story.entries.at(-1)?.seq ?? 0
  const over = serve({ sessionId: SESSION, after: formatCursor(cursorAfter(place)) })
  await once(socket, 'resumed')
  socket.emit('close')
  await over
  expect(readAfter).toBe(first.seq - 1)
  expect(socket.frames.map(({ type }) => type)).toEqual(['connection', 'queue'])
  expect(socket.frames.at(-1)).toEqual({
    type: 'queue',
    payload: { messages: [{ messageId: 'm2', position: 1 }] },
  })
})
