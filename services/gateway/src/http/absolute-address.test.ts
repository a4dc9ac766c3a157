// Requests whose address names the host, too, as clients send them to proxies (RFC 9112, 3.2.2).
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callersDoor } from './__fixtures__/callers.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

let gateway: FakeGateway
beforeAll(async () => {
  gateway = await startFakeGateway({ auth: callersDoor() })
})
afterAll(() => gateway[Symbol.asyncDispose]())

/** The status of a request, sent in full: `fetch` has no such addresses. */
async function statusOf(line: string, ...headers: string[]): Promise<number> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', 'Content-Length: 0', ...headers]
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`)
  return Number((await text(socket)).split(' ')[1])
}

const owner = 'Authorization: Bearer owner'

test.each([
  ['GET http://localhost/api/me', [], 401],
  ['GET HTTP://localhost/api/me?a=b', [owner], 200],
  ['GET http://localhost', [], 200],
  ['POST http://localhost/mcp', [], 401],
  ['GET ftp://localhost/api/me', [], 401],
  ['GET http://localhost/ws', ['Upgrade: websocket'], 401],
  ['GET http://evil.example/api/me', [owner], 403],
])('%s with %j is answered as its path at its host', async (line, headers, status) => {
  expect(await statusOf(line, ...headers)).toBe(status)
})
