import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { closeListener } from './close-listener.ts'

const REQUEST = 'POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}'

async function startServer() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('answered'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // It listens at a port, not at a path.
  const { port } = server.address() as AddressInfo
  const call = () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(REQUEST)
    return socket
  }
  return { server, call }
}

test('connections that wait to be accepted are answered', async () => {
  const { server, call } = await startServer()
  // The kernel has connected them before the server can accept one.
  const calls = Array.from({ length: 50 }, call)
  const { closed } = await closeListener(server)
  expect(server.listening).toBe(false)
  for (const answer of await Promise.all(calls.map((each) => text(each)))) {
    expect(answer).toContain('answered')
  }
  await closed
})

test('no request is handled before the listener is closed', async () => {
  const { server, call } = await startServer()
  const seen: boolean[] = []
  server.on('request', () => seen.push(server.listening))
  const first = call()
  const { closed } = await closeListener(server)
  expect(await text(first)).toContain('answered')
  expect(seen).toEqual([false])
  await closed
  await expect(once(call(), 'connect')).rejects.toThrow('ECONNREFUSED')
})
