import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startFakeGateway } from '../http/__fixtures__/start-fake-gateway.ts'
import { closeUnread } from './close-unread.ts'

const LARGE = Buffer.alloc(64 * 1024 * 1024)

let cleanup = new AsyncDisposableStack()
afterEach(async () => {
  await cleanup.disposeAsync()
  cleanup = new AsyncDisposableStack()
})

/** The address of a server and the answer that it gives to its first client. */
async function serve(unreadMs: number) {
  const server = createServer((_, answer) => closeUnread(answer, unreadMs))
  cleanup.defer(() => server.close().closeAllConnections())
  const answered = once(server, 'request')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // It listens at a port.
  const { port } = server.address() as AddressInfo
  // The event has a request and its answer.
  return { port, answered: answered.then(([, answer]) => answer as ServerResponse) }
}

test('an answer that its client does not read is closed, however long it took to make', async () => {
  const { port, answered } = await serve(100)
  const client = connect(port, '127.0.0.1').pause()
  cleanup.defer(() => void client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const answer = await answered
  // Nothing is unread before there is an answer.
  await once(answer, 'timeout')
  expect(answer.destroyed).toBe(false)
  answer.end(LARGE)
  await once(answer, 'close')
  expect(answer.writableFinished).toBe(false)
})

test('an answer that its client reads is sent to its end', async () => {
  const { port, answered } = await serve(100)
  const client = connect(port, '127.0.0.1')
  cleanup.defer(() => void client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  void answered.then((answer) => answer.end(LARGE))
  let bytes = 0
  // Without an encoding, a socket gives buffers.
  for await (const piece of client) bytes += (piece as Buffer).length
  expect(bytes).toBeGreaterThan(LARGE.length)
})

test.each(['/health', '/mcp', '/unknown'])(
  'the gateway closes unread answers at %s',
  async (path) => {
    const gateway = cleanup.use(await startFakeGateway())
    const limited: number[] = []
    const note = (message: unknown): void => {
      const { response } = message as { response: ServerResponse }
      response.once('close', () => limited.push(response.listenerCount('timeout')))
    }
    subscribe('http.server.request.start', note)
    cleanup.defer(() => void unsubscribe('http.server.request.start', note))
    await (await fetch(gateway.url + path)).text()
    expect(limited).toEqual([1])
  },
)
