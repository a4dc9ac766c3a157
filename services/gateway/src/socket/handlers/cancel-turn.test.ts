import type { Bus } from '@mcp-host/bus'
import type { Down, HistoryMessage, LogFact, SessionId } from '@mcp-host/contracts'
import { BusError, LOCAL } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Story } from '../../projection/__fixtures__/story.ts'
import { GatewayAudit } from '../../gateway-audit.ts'
import { UNLIMITED } from '../../limits/unlimited.ts'
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
    principal: LOCAL,
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
    limits: UNLIMITED,
    maintenance: { check: () => undefined },
    audit: new GatewayAudit(undefined),
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

describe('cancels without an id', () => {
  test('a cancel without an id is stored with the id of the running turn', async () => {
    story.claim(story.input('one', 'm1'))
    story.input('two', 'm2')
    catchUp()
    expect(await cancel()).toEqual(accepted('m1'))
    expect(stored).toEqual([request('m1')])
    expect(counted).toBe(1)
  })

  test('a cancel without an id withdraws the next message when no turn runs', async () => {
    story.input('one', 'm1')
    catchUp()
    expect(await cancel()).toEqual(accepted('m1'))
  })

  test('a cancel without an id withdraws a message that was stored but not read yet', async () => {
    catchUp()
    connection.unanswered.set('m1', 0)
    expect(await cancel()).toEqual(accepted('m1'))
    expect(stored).toEqual([request('m1')])
  })

  test('a late cancel without an id does not cancel the next turn', async () => {
    story.claim(story.input('one', 'm1'))
    story.done()
    catchUp()
    expect(await cancel()).toEqual(accepted('m1', true))
    expect(stored).toEqual([])
    expect(counted).toBe(0)
  })

  test('a cancel without an id is refused in a session without turns', async () => {
    catchUp()
    expect(await cancel()).toMatchObject({ type: 'error', payload: { code: 'not-found' } })
  })
})

describe('cancels with an id', () => {
  test('a cancel with the id of a queued message withdraws it', async () => {
    story.claim(story.input('one', 'm1'))
    story.input('two', 'm2')
    catchUp()
    expect(await cancel('m2')).toEqual(accepted('m2'))
    expect(stored).toEqual([request('m2')])
  })

  test('a repeated cancel is stored once', async () => {
    story.claim(story.input('one', 'm1'))
    catchUp()
    expect(await cancel('m1')).toEqual(accepted('m1'))
    expect(await cancel('m1')).toEqual(accepted('m1', true))
    expect(counted).toBe(1)
  })

  test.each([
    ['has ended', 'done', true],
    ['is queued', 'queued', false],
  ] as const)(
    'the turn of an earlier message is looked up when it %s',
    async (_, state, isOver) => {
      catchUp()
      states.set('old', state)
      expect(await cancel('old')).toEqual(accepted('old', isOver))
      expect(stored).toEqual(isOver ? [] : [request('old')])
    },
  )

  test('a cancel of an unknown message is refused', async () => {
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

test('a cancel waits until the running turn is known', async () => {
  story.claim(story.input('one', 'm1'))
  const done = cancel()
  catchUp()
  expect(await done).toEqual(accepted('m1'))
})
