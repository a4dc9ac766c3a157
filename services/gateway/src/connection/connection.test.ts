import { LOCAL } from '@mcp-host/contracts'
import type { SessionId } from '@mcp-host/contracts'
import type { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { Connection } from './connection.ts'

/** A socket that records the calls of its methods. */
function fakeSocket() {
  const calls: unknown[] = []
  const socket = {
    bufferedAmount: 0,
    send: (_: string, sent?: () => void) => calls.push(sent ?? 'sent'),
    close: (code: number, reason: string) => calls.push([code, reason]),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  }
  const sessionId = 's'.repeat(32) as SessionId
  const about = { sessionId, userAgent: '', principal: LOCAL, lastEventId: '', isReconnect: false }
  // Connection uses only these members.
  return { calls, socket, connection: new Connection(socket as unknown as WebSocket, about) }
}

test('a close reason that is too long for its frame is left out', () => {
  const { calls, connection } = fakeSocket()
  connection.close(1012, 'x'.repeat(123))
  connection.close(1012, 'x'.repeat(124))
  expect(calls).toEqual([
    [1012, 'x'.repeat(123)],
    [1012, ''],
  ])
})

test('a connection whose send buffer is full pauses reading until it drains', async () => {
  const { calls, socket, connection } = fakeSocket()
  socket.bufferedAmount = 2 ** 20
  const room = connection.send({ type: 'pong' })
  expect(calls[0]).toBe('pause')
  const sent = calls[1] as () => void
  sent()
  await room
  expect(calls.at(-1)).toBe('resume')
})

test('a connection with too many queued messages pauses reading until some are stored', async () => {
  const { calls, connection } = fakeSocket()
  const gate = Promise.withResolvers<void>()
  const works = Array.from({ length: 64 }, () => connection.inOrder(() => gate.promise))
  expect(calls).toEqual(['pause'])
  gate.resolve()
  await Promise.all(works)
  expect(calls).toEqual(['pause', 'resume'])
})
