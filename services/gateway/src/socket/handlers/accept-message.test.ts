import { setImmediate } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { Down, SessionId } from '@mcp-host/contracts'
import { BusError, LOCAL } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Story } from '../../projection/__fixtures__/story.ts'
import { GatewayAudit } from '../../gateway-audit.ts'
import { UNLIMITED } from '../../limits/unlimited.ts'
import { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { acceptMessage } from './accept-message.ts'

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
    new Connection(socket, {
      sessionId,
      userAgent: '',
      principal: LOCAL,
      lastEventId: '',
      isReconnect,
    })
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
    limits: UNLIMITED,
    maintenance: { check: () => undefined },
    audit: new GatewayAudit(undefined),
    draining: AbortSignal.any([]),
  }
})

function say(id?: string, text = 'hi'): Promise<unknown> {
  const payload = id === undefined ? { text } : { text, id }
  return acceptMessage(deps, connection, { type: 'message', payload })
}

test('a message is accepted once it is in the log', async () => {
  const accepted = say('m1')
  await setImmediate()
  expect(frames).toEqual([])
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toEqual([{ type: 'accepted', payload: { messageId: 'm1', duplicate: false } }])
  expect(counted).toBe(1)
})

test('a message may name its model', async () => {
  const payload = { text: 'hi', id: 'm1', model: 'xai/grok-latest' }
  void acceptMessage(deps, connection, { type: 'message', payload })
  await setImmediate()
  expect(asked[0]?.fact).toEqual(payload)
})

test('messages of one socket are stored in order', async () => {
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

test('a message that cannot be stored is refused with its id, and the next one is stored', async () => {
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
])(
  'a message with the id of a stored one is accepted only with the same text: "%s"',
  async (text, frame) => {
    const accepted = say('m1', text)
    await setImmediate()
    asked[0]?.resolve({ seq: 1, duplicate: true })
    await accepted
    expect(frames).toMatchObject([frame])
  },
)

test('a message without an id gets one', async () => {
  const accepted = say()
  await setImmediate()
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toMatchObject([{ payload: { messageId: expect.stringMatching(/^[\w-]{36}$/) } }])
})

describe('messages that name another', () => {
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
    // `call` is generic over contracts; these tests send one.
    call = answer as unknown as Bus['call']
    const sessions = { ...deps.bus.sessions, lastSequence: async () => 1 }
    deps = { ...deps, bus: { ...deps.bus, call, sessions } }
  })

  test('a message is stored with the id of the one that it replaces', async () => {
    const payload = { text: 'better', id: 'm2', replaces: 'm1' }
    const accepted = acceptMessage(deps, connection, { type: 'message', payload })
    await setImmediate()
    expect(asked[0]?.fact).toEqual({ id: 'm2', text: 'better', replaces: 'm1' })
    asked[0]?.resolve({ seq: 2, duplicate: false })
    await accepted
    expect(frames).toMatchObject([{ type: 'accepted', payload: { messageId: 'm2' } }])
  })

  test('a message is stored with the id of the one that it follows', async () => {
    const payload = { text: 'more', id: 'm2', follows: 'm1' }
    const accepted = acceptMessage(deps, connection, { type: 'message', payload })
    await setImmediate()
    expect(asked[0]?.fact).toEqual({ id: 'm2', text: 'more', follows: 'm1' })
    asked[0]?.resolve({ seq: 2, duplicate: false })
    await accepted
  })

  test.each(['replaces', 'follows'])(
    'without an orchestrator, the log says whether the message that "%s" names is stored',
    async (place) => {
      call = async () => {
        throw new BusError('unavailable', 'no orchestrator answers')
      }
      deps = { ...deps, bus: { ...deps.bus, call } }
      const send = (id: string): Promise<unknown> => {
        const payload = { text: 'more', id: 'm2', [place]: id }
        return acceptMessage(deps, connection, { type: 'message', payload })
      }
      await send('m9')
      const field = `payload.${place}`
      expect(frames).toMatchObject([{ type: 'error', payload: { code: 'not-found', field } }])
      const accepted = send('m1')
      await setImmediate()
      asked[0]?.resolve({ seq: 2, duplicate: false })
      await accepted
      expect(frames[1]).toMatchObject({ type: 'accepted', payload: { messageId: 'm2' } })
    },
  )

  test('a message cannot replace one and follow another', async () => {
    const payload = { text: 'more', id: 'm2', replaces: 'm1', follows: 'm1' }
    await acceptMessage(deps, connection, { type: 'message', payload })
    expect(asked).toEqual([])
    const error = { code: 'invalid', field: 'payload.follows', messageId: 'm2' }
    expect(frames).toMatchObject([{ type: 'error', payload: error }])
  })

  test('a regenerated message replaces one with the same text', async () => {
    const accepted = acceptMessage(deps, connection, {
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

  test('without an orchestrator, the text of a regenerated message is read from the log', async () => {
    call = async () => {
      throw new BusError('deadline', 'no orchestrator answers in time')
    }
    deps = { ...deps, bus: { ...deps.bus, call } }
    const regenerate = (messageId: string): Promise<unknown> =>
      acceptMessage(deps, connection, { type: 'regenerate', payload: { messageId, id: 'm2' } })
    await regenerate('m9')
    const error = { code: 'not-found', field: 'payload.messageId' }
    expect(frames).toMatchObject([{ type: 'error', payload: error }])
    const accepted = regenerate('m1')
    await setImmediate()
    expect(asked[0]?.fact).toEqual({ id: 'm2', text: 'hi', replaces: 'm1' })
    asked[0]?.resolve({ seq: 2, duplicate: false })
    await accepted
    expect(frames[1]).toMatchObject({ type: 'accepted', payload: { messageId: 'm2' } })
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
      'payload.follows',
      () =>
        acceptMessage(deps, connection, {
          type: 'message',
          payload: { text: 'more', id: 'm2', follows: 'm9' },
        }),
    ],
    [
      'payload.messageId',
      () =>
        acceptMessage(deps, connection, {
          type: 'regenerate',
          payload: { id: 'm2', messageId: 'm9' },
        }),
    ],
  ])('a message that names an unknown one is refused: %s', async (field, send) => {
    await send()
    expect(asked).toEqual([])
    const error = { code: 'not-found', field, messageId: 'm2', retryable: false }
    expect(frames).toMatchObject([{ type: 'error', payload: error }])
    expect(connection.unanswered.size).toBe(0)
  })
})

test('a message is refused when too many are queued', async () => {
  const story = new Story()
  for (let count = 0; count < 500; count++) story.input('more', `more-${count}`)
  for (const item of story.items) connection.queue.item(item)
  await say('m1')
  expect(asked).toEqual([])
  expect(frames.at(-1)).toMatchObject({ payload: { code: 'exhausted', messageId: 'm1' } })
})

test('a message to a deleted session is refused', async () => {
  const story = new Story()
  story.delete()
  for (const item of story.items) connection.queue.item(item)
  await say('m1')
  expect(asked).toEqual([])
  expect(frames).toMatchObject([{ payload: { code: 'not-found', messageId: 'm1' } }])
})

describe('messages that are sent again after a reconnect', () => {
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

  test('a message that was stored long ago is not stored again', async () => {
    await say('m1')
    expect(asked).toEqual([])
    expect(frames).toEqual([{ type: 'accepted', payload: { messageId: 'm1', duplicate: true } }])
    expect(connection.unanswered.size).toBe(0)
  })

  test('a message with the id of a different stored one is refused', async () => {
    await say('m1', 'ho')
    expect(asked).toEqual([])
    expect(frames).toMatchObject([{ payload: { code: 'conflict', field: 'payload.id' } }])
  })

  test('a repeated message is searched in the log when no orchestrator answers', async () => {
    call = () => Promise.reject(new BusError('unavailable', 'nobody is there'))
    await say('m1')
    expect(asked).toEqual([])
  })

  test('a message that is not in the history is stored', async () => {
    call = () => Promise.reject(new BusError('not-found', 'no such message'))
    const accepted = say('m1')
    await setImmediate()
    asked[0]?.resolve({ seq: 5, duplicate: false })
    await accepted
    expect(frames).toMatchObject([{ type: 'accepted', payload: { duplicate: false } }])
  })
})
