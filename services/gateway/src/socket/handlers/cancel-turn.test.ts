import type { Bus } from '@mcp-host/bus'
import type { Down, HistoryMessage, LogFact, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Story } from '../../projection/__fixtures__/story.ts'
import { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { cancelTurn } from './cancel-turn.ts'

let story: Story
let frames: Down[]
let connection: Connection
let deps: SocketDeps
let counted: number
let stored: unknown[]
/** What the orchestrators know of older messages. */
let states: Map<string, HistoryMessage['metadata']['state']>
beforeEach(() => {
  story = new Story()
  frames = []
  counted = 0
  stored = []
  states = new Map()
  // Here and below only what cancelling uses.
  const socket = {
    bufferedAmount: 0,
    send: (frame: string) => void frames.push(JSON.parse(frame) as Down),
  } as unknown as WebSocket
  const sessionId = 'session' as SessionId
  connection = new Connection(socket, {
    sessionId,
    userAgent: '',
    lastEventId: '',
    isReconnect: false,
  })
  const seen = new Set<string>()
  const append = async (_: SessionId, { fact }: LogFact, options: { messageId: string }) => {
    const duplicate = seen.has(options.messageId)
    seen.add(options.messageId)
    if (!duplicate) stored.push(fact)
    return { seq: 1, duplicate }
  }
  const call = async (_: unknown, __: unknown, { only }: { only: string }) => {
    const state = states.get(only)
    if (state === undefined) throw new BusError('not-found', 'no such message')
    const metadata = { messageId: only, state }
    return { messages: [{ id: only, role: 'user', createdAt: 0, content: 'hi', metadata }] }
  }
  const silent = () => undefined
  deps = {
    bus: { sessions: { append }, call } as unknown as Bus,
    logger: { info: silent, warn: silent } as unknown as Logger,
    events: { cancelAccepted: () => void counted++ } as unknown as SocketDeps['events'],
    connections: new Set(),
    signSession: (random) => random,
    welcome: () => '',
    draining: AbortSignal.any([]),
  }
})

/** What the socket has been given so far. */
function catchUp(): void {
  for (const item of story.items) connection.queue.item(item)
  connection.queue.item({ type: 'caught-up' })
  frames.length = 0
}

async function cancel(messageId?: string): Promise<Down | undefined> {
  const payload = messageId === undefined ? {} : { messageId }
  await cancelTurn(deps, connection, { type: 'cancel', payload })
  return frames.at(-1)
}

const accepted = (messageId: string, duplicate = false): Down => ({
  type: 'accepted',
  payload: { messageId, duplicate },
})
const request = (messageId: string) => ({ type: 'cancel-requested', messageId })

describe('without an id', () => {
  test('the turn that runs is meant, and named, so that the next one is not', async () => {
    story.claim(story.input('one', 'm1'))
    story.input('two', 'm2')
    catchUp()
    expect(await cancel()).toEqual(accepted('m1'))
    expect(stored).toEqual([request('m1')])
    expect(counted).toBe(1)
  })

  test('the next one is meant when none runs', async () => {
    story.input('one', 'm1')
    catchUp()
    expect(await cancel()).toEqual(accepted('m1'))
  })

  test('what was just stored is meant although the log has not told of it yet', async () => {
    catchUp()
    connection.unanswered.set('m1', 0)
    expect(await cancel()).toEqual(accepted('m1'))
    expect(stored).toEqual([request('m1')])
  })

  test('one that comes too late ends nothing', async () => {
    story.claim(story.input('one', 'm1'))
    story.done()
    catchUp()
    expect(await cancel()).toEqual(accepted('m1', true))
    expect(stored).toEqual([])
    expect(counted).toBe(0)
  })

  test('it is refused where nothing ever ran', async () => {
    catchUp()
    expect(await cancel()).toMatchObject({ type: 'error', payload: { code: 'not-found' } })
  })
})

describe('with an id', () => {
  test('a message that waits is withdrawn', async () => {
    story.claim(story.input('one', 'm1'))
    story.input('two', 'm2')
    catchUp()
    expect(await cancel('m2')).toEqual(accepted('m2'))
    expect(stored).toEqual([request('m2')])
  })

  test('the same again counts once', async () => {
    story.claim(story.input('one', 'm1'))
    catchUp()
    expect(await cancel('m1')).toEqual(accepted('m1'))
    expect(await cancel('m1')).toEqual(accepted('m1', true))
    expect(counted).toBe(1)
  })

  test.each([
    ['is over', 'done', true],
    ['waits', 'queued', false],
  ] as const)('an older message is looked up: its turn %s', async (_, state, isOver) => {
    catchUp()
    states.set('old', state)
    expect(await cancel('old')).toEqual(accepted('old', isOver))
    expect(stored).toEqual(isOver ? [] : [request('old')])
  })

  test('one that nobody said is refused', async () => {
    catchUp()
    expect(await cancel('m9')).toEqual({
      type: 'error',
      payload: {
        code: 'not-found',
        message: expect.stringContaining('"m9"'),
        field: 'payload.messageId',
        retryable: false,
        messageId: 'm9',
        sessionId: 'session',
      },
    })
  })
})

test('a cancel waits until it is known what runs', async () => {
  story.claim(story.input('one', 'm1'))
  const done = cancel()
  catchUp()
  expect(await done).toEqual(accepted('m1'))
})
