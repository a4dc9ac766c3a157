import type { Bus } from '@mcp-host/bus'
import type { Down, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Connection } from '../connection.ts'
import type { SocketDeps } from '../socket.ts'
import { acceptMessage } from './accept-message.ts'

/** One append that the log has been asked for. */
interface Append extends PromiseWithResolvers<{ seq: number; duplicate: boolean }> {
  readonly id: string
}

let asked: Append[]
let frames: Down[]
let connection: Connection
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
  connection = new Connection(socket, { sessionId, userAgent: '', lastEventId: '' })
  const append = (_: SessionId, { fact }: { fact: { id: string } }): Append['promise'] => {
    const one: Append = { id: fact.id, ...Promise.withResolvers() }
    asked.push(one)
    return one.promise
  }
  deps = {
    bus: { sessions: { append } } as unknown as Bus,
    logger: { info: () => undefined, error: () => undefined } as unknown as Logger,
    events: { messageAccepted: () => void counted++ } as unknown as SocketDeps['events'],
    connections: new Set(),
    welcome: () => '',
  }
})

function say(id?: string): Promise<void> {
  const payload = id === undefined ? { text: 'hi' } : { text: 'hi', id }
  return acceptMessage(deps, connection, { type: 'message', payload })
}

test('a message is accepted once it is in the log, not before', async () => {
  const accepted = say('m1')
  await Promise.resolve()
  expect(frames).toEqual([])
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toEqual([{ type: 'accepted', payload: { messageId: 'm1', duplicate: false } }])
  expect(counted).toBe(1)
})

test('the next message waits until the one before is stored, so that they keep their order', async () => {
  const [first, second] = [say('m1'), say('m2')]
  await Promise.resolve()
  expect(asked.map(({ id }) => id)).toEqual(['m1'])
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await first
  await Promise.resolve()
  expect(asked.map(({ id }) => id)).toEqual(['m1', 'm2'])
  asked[1]?.resolve({ seq: 2, duplicate: false })
  await second
})

test('a message that cannot be stored is refused by its id, and the next one is stored', async () => {
  const [first, second] = [say('m1'), say('m2')]
  await Promise.resolve()
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
      },
    },
  ])
  await Promise.resolve()
  asked[1]?.resolve({ seq: 2, duplicate: false })
  await second
  expect(frames.at(-1)).toMatchObject({ type: 'accepted', payload: { messageId: 'm2' } })
})

test('a message without an id gets one', async () => {
  const accepted = say()
  await Promise.resolve()
  asked[0]?.resolve({ seq: 1, duplicate: false })
  await accepted
  expect(frames).toMatchObject([{ payload: { messageId: expect.stringMatching(/^[\w-]{36}$/) } }])
})
