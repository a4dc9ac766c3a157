import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { eventually } from '@mcp-host/testkit'
import { afterEach, expect, test, vi } from 'vitest'
import type { ClientEvent } from './session-client-options.ts'
import { SessionClient } from './session-client.ts'

const clean: (() => void)[] = []
afterEach(() => {
  vi.unstubAllGlobals()
  for (const each of clean.splice(0)) each()
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A client of a server that answers plain requests, and opens no WebSockets. */
async function open(answer: Answer) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const events: ClientEvent[] = []
  const client = new SessionClient({
    url: `http://127.0.0.1:${port}`,
    sessionId: 'S',
    onEvent: (event) => void events.push(event),
  })
  const end = (): void => {
    server.closeAllConnections()
    server.close()
  }
  clean.push(() => {
    client.close()
    end()
  })
  return { client, events, end }
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const page: Answer = (_, response) => void response.end('<h1>hello</h1>')

test.each<[string, Answer, object]>([
  ['a page', page, { fault: 'stranger' }],
  [
    'a page with 502',
    (_, response) => void response.writeHead(502).end('<h1>502</h1>'),
    { fault: 'proxy' },
  ],
  [
    'JSON without the error of a gateway',
    (_, response) => json(response, 404, { detail: 'Not Found' }),
    { fault: 'stranger' },
  ],
  [
    'that it has no such address',
    (_, response) => json(response, 404, { error: { code: 'not-found', message: 'no' } }),
    { fault: 'stranger' },
  ],
  [
    'that it cannot serve',
    (_, response) => json(response, 503, { error: { code: 'unavailable', message: 'in a while' } }),
    { fault: 'unavailable', reason: 'in a while' },
  ],
  [
    'a login page with 401',
    (_, response) => void response.writeHead(401).end('<h1>Who?</h1>'),
    { fault: 'stranger' },
  ],
  [
    'that a login is missing',
    (_, response) => json(response, 401, { error: { code: 'unauthenticated', message: 'who?' } }),
    { state: 'ended', why: 'unauthenticated', message: 'who?' },
  ],
  [
    'that chats are not allowed',
    (_, response) => json(response, 403, { error: { code: 'denied', message: 'no chats' } }),
    { state: 'ended', why: 'forbidden', message: 'no chats' },
  ],
])('an address that answers %s is told apart', async (_, answer, expected) => {
  const { client } = await open(answer)
  await vi.waitFor(() => expect(client.state).toMatchObject(expected), { timeout: 5_000 })
})

test('an address at which nothing answers is told apart from a missing network', async () => {
  const { client, end } = await open(page)
  await eventually(() => client.state.state === 'reconnecting')
  end()
  await vi.waitFor(() => expect(client.state).toMatchObject({ fault: 'away' }), { timeout: 10_000 })
  vi.stubGlobal('navigator', { onLine: false })
  client.reconnect()
  await vi.waitFor(() => expect(client.state).toMatchObject({ fault: 'offline' }))
})

/** A gateway without WebSockets, whose stream the test writes. */
function gateway() {
  const streams: ServerResponse[] = []
  const requests: { readonly path: string; readonly body: string }[] = []
  const answer: Answer = (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const path = request.url ?? ''
      if (path === '/ws?sessionId=S') return void response.writeHead(400).end()
      if (path === '/api/me') return json(response, 200, { id: 'ann' })
      requests.push({ path, body })
      if (path.includes('/events')) {
        streams.push(response)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        return void response.write('retry: 500\n\n')
      }
      if (body.includes('refused')) {
        return json(response, 400, { error: { code: 'invalid', message: 'no', field: 'text' } })
      }
      return json(response, 202, {})
    })
  }
  const send = (data: object, id?: string): void =>
    void streams
      .at(-1)
      ?.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
  return { answer, streams, requests, send }
}

test('a client behind a proxy that passes no WebSockets goes on over HTTP', async () => {
  const { answer, requests, send, streams } = gateway()
  const { client, events } = await open(answer)
  const { accepted } = client.say('hello', { id: 'm1' })
  expect(await accepted).toEqual({ duplicate: false })
  expect(client.state).toMatchObject({ state: 'connected', over: 'http', sessionId: 'S' })
  await expect(client.say('refused', { id: 'm2' }).accepted).rejects.toMatchObject({
    code: 'invalid',
    field: 'text',
  })
  await client.answer({ id: 'q1', action: 'accept' }).accepted
  await client.cancelCall('c1').accepted
  client.cancel('m1')
  await eventually(() => client.unaccepted.length === 0)
  expect(requests.map(({ path, body }) => `${path} ${body}`)).toEqual([
    '/api/chat/session/S/events ',
    '/api/chat/session/S/message {"id":"m1","message":"hello"}',
    '/api/chat/session/S/message {"id":"m2","message":"refused"}',
    '/api/chat/session/S/answer {"id":"q1","action":"accept"}',
    '/api/chat/session/S/abort-call {"callId":"c1"}',
    '/api/chat/session/S/abort {"messageId":"m1"}',
  ])
  send({ type: 'content', content: 'ü' }, '1.0.-.0')
  send({ type: 'error', content: 'no', code: 'unavailable' }, '2.0.-.0~1')
  await eventually(() => client.lastEventId === '1.0.-.0')
  streams.at(-1)?.end()
  await eventually(() => streams.length === 2)
  // A socket is tried again first.
  expect(requests.slice(-2).map(({ path }) => path)).toEqual([
    '/ws?sessionId=S&after=1.0.-.0',
    '/api/chat/session/S/events?after=1.0.-.0',
  ])
  send({ type: 'error', content: 'no', code: 'unavailable' }, '2.0.-.0~1')
  send({ type: 'done', content: '', outcome: 'failed', messageId: 'm1' }, '2.0.-.0')
  await eventually(() => client.lastEventId === '2.0.-.0')
  expect(events).toEqual([
    { type: 'text', id: '1.0.-.0', payload: { content: 'ü' } },
    {
      type: 'turn',
      id: '2.0.-.0',
      payload: {
        state: 'done',
        outcome: 'failed',
        messageId: 'm1',
        error: { code: 'unavailable', message: 'no' },
      },
    },
  ])
})
