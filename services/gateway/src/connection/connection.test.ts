import type { SessionId } from '@mcp-host/contracts'
import type { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { Connection } from './connection.ts'

/** A socket that notes what is done to it. */
function fakeSocket() {
  const done: unknown[] = []
  const socket = {
    bufferedAmount: 0,
    send: (_: string, sent?: () => void) => done.push(sent ?? 'sent'),
    close: (code: number, reason: string) => done.push([code, reason]),
    pause: () => done.push('pause'),
    resume: () => done.push('resume'),
  }
  const sessionId = 's'.repeat(32) as SessionId
  const about = { sessionId, userAgent: '', lastEventId: '', isReconnect: false }
  // Only what a connection uses of it.
  return { done, socket, connection: new Connection(socket as unknown as WebSocket, about) }
}

test('a reason that is too long for a close frame is left out', () => {
  const { done, connection } = fakeSocket()
  connection.close(1012, 'x'.repeat(123))
  connection.close(1012, 'x'.repeat(124))
  expect(done).toEqual([
    [1012, 'x'.repeat(123)],
    [1012, ''],
  ])
})

test('a client that does not read is not read from until there is room again', async () => {
  const { done, socket, connection } = fakeSocket()
  socket.bufferedAmount = 2 ** 20
  const room = connection.send({ type: 'pong' })
  expect(done[0]).toBe('pause')
  const sent = done[1] as () => void
  sent()
  await room
  expect(done.at(-1)).toBe('resume')
})

test('a client with too many messages waiting is not read from until some are stored', async () => {
  const { done, connection } = fakeSocket()
  const gate = Promise.withResolvers<void>()
  const works = Array.from({ length: 64 }, () => connection.inOrder(() => gate.promise))
  expect(done).toEqual(['pause'])
  gate.resolve()
  await Promise.all(works)
  expect(done).toEqual(['pause', 'resume'])
})
