import { setImmediate } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { Down, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Story } from '../../projection/__fixtures__/story.ts'
import { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { acceptMessage, regenerate } from './accept-message.ts'

const storage = { checkRoom: () => Promise.resolve() }

/** One append that the log has been asked for. */
interface Append extends PromiseWithResolvers<{ seq: number; duplicate: boolean }> {
  readonly id: string
  readonly fact: unknown
}

let asked: Append[]
let frames: Down[]
let connection: Connection
let open: (isReconnect: boolean) => Connection
let deps: SocketDeps
let counted: number
beforeEach(() => {
  asked = []
  frames = []
  counted = 0
  // Here and below only what accepting a message uses.
  const socket = {
    bufferedAmount: 0,
    send: (frame: string) => void frames.push(JSON.parse(frame) as Down),
  } as unknown as WebSocket
  const sessionId = 'session' as SessionId
  open = (isReconnect) =>
    new Connection(socket, { sessionId, userAgent: '', lastEventId: '', isReconnect })
  connection = open(false)
  const append = (_: SessionId, { fact }: { fact: { id: string } }): Append['promise'] => {
    const one: Append = { id: fact.id, fact, ...Promise.withResolvers() }
    asked.push(one)
    return one.promise
  }
  const read = async () => [{ kind: 'input', seq: 1, fact: { id: 'm1', text: 'hi' } }]
  deps = {
    bus: { sessions: { append, read }, storage } as unknown as Bus,
    logger: { info: () => undefined, error: () => undefined } as unknown as Logger,
    events: { messageAccepted: () => void counted++ } as unknown as SocketDeps['events'],
    connections: new Set(),
    signSession: (random) => random,
    welcome: () => '',
    draining: AbortSignal.any([]),
  }
})

function say(id?: string, text = 'hi'): Promise<void> {
  const payload = id === undefined ? { text } : { text, id }
  return acceptMessage(deps, connection, { type: 'message', payload })
}

test('a message is accepted once it is in the log, not before', async () => {
  const accepted = say('m1')
  await setImmediate()
  expect(frames).toEqual([])
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toEqual([{ type: 'accepted', payload: { messageId: 'm1', duplicate: false } }])
  expect(counted).toBe(1)
})

test('a message may name who is to answer it', async () => {
  const payload = { text: 'hi', id: 'm1', model: 'xai/grok-latest' }
  void acceptMessage(deps, connection, { type: 'message', payload })
  await setImmediate()
  expect(asked[0]?.fact).toEqual(payload)
})

test('the next message waits until the one before is stored, so that they keep their order', async () => {
  const [first, second] = [say('m1'), say('m2')]
  await setImmediate()
  expect(asked.map(({ id }) => id)).toEqual(['m1'])
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await first
  await setImmediate()
  expect(asked.map(({ id }) => id)).toEqual(['m1', 'm2'])
  asked[1]?.resolve({ seq: 2, duplicate: false })
  await second
})

test('a message that cannot be stored is refused by its id, and the next one is stored', async () => {
  const [first, second] = [say('m1'), say('m2')]
  await setImmediate()
  asked[0]?.reject(new BusError('unavailable', 'the session log cannot be reached; try again'))
  await first
  expect(frames).toEqual([
    {
      type: 'error',
      payload: {
        code: 'unavailable',
        message: 'the session log cannot be reached; try again',
        retryable: true,
        messageId: 'm1',
        sessionId: 'session',
      },
    },
  ])
  await setImmediate()
  asked[1]?.resolve({ seq: 2, duplicate: false })
  await second
  expect(frames.at(-1)).toMatchObject({ type: 'accepted', payload: { messageId: 'm2' } })
})

test.each([
  ['hi', { type: 'accepted', payload: { messageId: 'm1', duplicate: true } }],
  ['ho', { type: 'error', payload: { code: 'conflict', field: 'payload.id', retryable: false } }],
])('an id of a stored message counts once, with the same text only: "%s"', async (text, frame) => {
  const accepted = say('m1', text)
  await setImmediate()
  asked[0]?.resolve({ seq: 1, duplicate: true })
  await accepted
  expect(frames).toMatchObject([frame])
})

test('a message without an id gets one', async () => {
  const accepted = say()
  await setImmediate()
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toMatchObject([{ payload: { messageId: expect.stringMatching(/^[\w-]{36}$/) } }])
})

describe('a message in the place of another', () => {
  /** What the orchestrators know. */
  let texts: Map<string, string>
  let call: Bus['call']
  beforeEach(() => {
    texts = new Map([['m1', 'as it was']])
    const answer = async (_: unknown, __: unknown, { only }: { only: string }) => {
      const content = texts.get(only)
      if (content === undefined) throw new BusError('not-found', 'no such message')
      const metadata = { messageId: only }
      return { messages: [{ id: only, role: 'user', createdAt: 0, content, metadata }] }
    }
    call = answer as unknown as Bus['call']
    deps = { ...deps, bus: { ...deps.bus, call } }
  })

  test('is stored with what it replaces', async () => {
    const payload = { text: 'better', id: 'm2', replaces: 'm1' }
    const accepted = acceptMessage(deps, connection, { type: 'message', payload })
    await setImmediate()
    expect(asked[0]?.fact).toEqual({ id: 'm2', text: 'better', replaces: 'm1' })
    asked[0]?.resolve({ seq: 2, duplicate: false })
    await accepted
    expect(frames).toMatchObject([{ type: 'accepted', payload: { messageId: 'm2' } }])
  })

  test('may be the same once more', async () => {
    const accepted = regenerate(deps, connection, {
      type: 'regenerate',
      payload: { messageId: 'm1', id: 'm2', model: 'xai' },
    })
    await setImmediate()
    const fact = { id: 'm2', text: 'as it was', replaces: 'm1', model: 'xai' }
    expect(asked[0]?.fact).toEqual(fact)
    asked[0]?.resolve({ seq: 2, duplicate: false })
    await accepted
    expect(frames).toMatchObject([{ type: 'accepted', payload: { messageId: 'm2' } }])
  })

  test.each([
    [
      'payload.replaces',
      () =>
        acceptMessage(deps, connection, {
          type: 'message',
          payload: { text: 'better', id: 'm2', replaces: 'm9' },
        }),
    ],
    [
      'payload.messageId',
      () =>
        regenerate(deps, connection, {
          type: 'regenerate',
          payload: { id: 'm2', messageId: 'm9' },
        }),
    ],
  ])('is refused when there is no such message: %s', async (field, send) => {
    await send()
    expect(asked).toEqual([])
    const error = { code: 'not-found', field, messageId: 'm2', retryable: false }
    expect(frames).toMatchObject([{ type: 'error', payload: error }])
    expect(connection.unanswered.size).toBe(0)
  })
})

test('a message is refused when too many wait', async () => {
  const story = new Story()
  for (let count = 0; count < 500; count++) story.input('more', `more-${count}`)
  for (const item of story.items) connection.queue.item(item)
  await say('m1')
  expect(asked).toEqual([])
  expect(frames.at(-1)).toMatchObject({ payload: { code: 'exhausted', messageId: 'm1' } })
})

test('nothing is said to a session that was deleted', async () => {
  const story = new Story()
  story.delete()
  for (const item of story.items) connection.queue.item(item)
  await say('m1')
  expect(asked).toEqual([])
  expect(frames).toMatchObject([{ payload: { code: 'not-found', messageId: 'm1' } }])
})

describe('a message that is sent again by who comes back', () => {
  let call: () => Promise<unknown>
  beforeEach(() => {
    connection = open(true)
    const message = { id: 'm1', role: 'user', createdAt: 0, metadata: { messageId: 'm1' } }
    call = async () => ({ messages: [message] })
    const sessions = {
      ...deps.bus.sessions,
      lastSequence: async () => 4,
      read: async () => [{ kind: 'input', seq: 4, fact: { id: 'm1', text: 'hi' } }],
    }
    deps = { ...deps, bus: { sessions, storage, call: () => call() } as unknown as Bus }
  })

  test('is not stored again, however long ago it was', async () => {
    await say('m1')
    expect(asked).toEqual([])
    expect(frames).toEqual([{ type: 'accepted', payload: { messageId: 'm1', duplicate: true } }])
    expect(connection.unanswered.size).toBe(0)
  })

  test('is refused when it is another one under the same id', async () => {
    await say('m1', 'ho')
    expect(asked).toEqual([])
    expect(frames).toMatchObject([{ payload: { code: 'conflict', field: 'payload.id' } }])
  })

  test('is looked for in the log when no orchestrator answers', async () => {
    call = () => Promise.reject(new BusError('unavailable', 'nobody is there'))
    await say('m1')
    expect(asked).toEqual([])
  })

  test('is stored when it never was', async () => {
    call = () => Promise.reject(new BusError('not-found', 'no such message'))
    const accepted = say('m1')
    await setImmediate()
    asked[0]?.resolve({ seq: 5, duplicate: false })
    await accepted
    expect(frames).toMatchObject([{ type: 'accepted', payload: { duplicate: false } }])
  })
})
