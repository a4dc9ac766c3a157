import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, test } from 'vitest'

import { listenForTest } from '@mcp-host/mcp-testkit'
import { testIntake, type TestIntake } from '../../test/intake.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import { boundedFetch } from './bounded-fetch.ts'

interface Fetched extends TestIntake {
  readonly response: Response
  /** The bytes that the server had written when the client stopped reading. */
  readonly written: Promise<number>
}

/** Sends a request to a server with this answer. */
async function fetchFrom(
  answer: (response: ServerResponse) => void,
  limits: Partial<MessageLimits> = {},
  init: RequestInit = { method: 'POST', body: '{"method":"x","id":7}' },
): Promise<Fetched> {
  const closed = Promise.withResolvers<number>()
  const server = createServer((request, response) => {
    response.on('close', () => closed.resolve(request.socket.bytesWritten))
    answer(response)
  })
  await listenForTest(server)
  const { port } = server.address() as AddressInfo
  const tested = testIntake(limits)
  const response = await boundedFetch(tested.intake)(`http://127.0.0.1:${port}/mcp`, init)
  return { response, written: closed.promise, ...tested }
}

/** Writes for as long as the client reads. */
function endless(type: string, text: string, status = 200) {
  return (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': type })
    const write = (): void => {
      while (!response.destroyed && response.write(text));
    }
    response.on('drain', write)
    write()
  }
}

const refused = (reason: string): object => ({
  jsonrpc: '2.0',
  id: 7,
  error: { code: -32_000, message: expect.stringContaining(reason) },
})

test('a small answer is delivered unchanged, with its status and URL', async () => {
  const { response, leftOut } = await fetchFrom((to) => {
    to.writeHead(200, { 'content-type': 'application/json; charset=utf-8', x: 'y' }).end('{"a":1}')
  })
  expect(response).toMatchObject({ status: 200, ok: true, redirected: false })
  expect(response.url).toMatch(/^http:.*\/mcp$/)
  expect(response.headers.get('x')).toBe('y')
  expect(await response.json()).toEqual({ a: 1 })
  expect(leftOut.messages).toBe(0)
})

test('an endless JSON body is read up to the limit and is an error to its request', async () => {
  const { response, written, leftOut } = await fetchFrom(
    endless('application/json', '"x",'.repeat(1_000)),
    {
      messageBytes: 100_000,
    },
  )
  expect(await response.json()).toEqual(refused('has more than 100000 bytes'))
  expect(await written).toBeLessThan(10_000_000)
  expect(leftOut.messages).toBe(1)
})

test('a JSON body of too many values is an error to its request', async () => {
  const { response } = await fetchFrom(
    (to) => void to.setHeader('content-type', 'application/json').end(`[${'{},'.repeat(5_000)}1]`),
    { messageValues: 1_000 },
  )
  expect(await response.json()).toEqual(refused('has more than 1000 values'))
})

test('a JSON body of too many names is an error to its request', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `"${index}":"text"`).join()
  const { response } = await fetchFrom(
    (to) => void to.setHeader('content-type', 'application/json').end(`{${names}}`),
    { messageNames: 200 },
  )
  expect(await response.json()).toEqual(refused('has more than 200 names in objects'))
})

test('a JSON body of too many values is not read to its end', async () => {
  const { response, written } = await fetchFrom(endless('application/json', '{},'.repeat(1_000)), {
    messageValues: 1_000,
  })
  expect(await response.json()).toEqual(refused('has more than 1000 values'))
  expect(await written).toBeLessThan(10_000_000)
})

test('an endless event ends its stream with an error to the request', async () => {
  const { response, written } = await fetchFrom(
    endless('text/event-stream', `data: ${'x'.repeat(4_000)}\n`),
    {
      messageBytes: 100_000,
    },
  )
  const text = await response.text()
  expect(JSON.parse(text.slice('data: '.length))).toEqual(refused('has more than 100000 bytes'))
  expect(await written).toBeLessThan(10_000_000)
})

test('an endless event on a stream without a request ends the connection', async () => {
  const get = { method: 'GET' }
  const { response, exceeded } = await fetchFrom(
    endless('text/event-stream', 'x'.repeat(4_000)),
    { messageBytes: 100_000 },
    get,
  )
  expect(await response.text()).toBe('')
  expect(exceeded).toEqual(['sent a message of more than 100000 bytes'])
})

test('an event of too many values is an error, and the events around it are delivered', async () => {
  const event = (id: number, result: unknown): string =>
    `data: ${JSON.stringify({ jsonrpc: '2.0', result, id })}\n\n`
  const { response } = await fetchFrom(
    (to) => {
      to.setHeader('content-type', 'text/event-stream')
      to.end(
        `${event(1, 'a')}${event(
          7,
          Array.from({ length: 2_000 }, () => []),
        )}${event(2, 'b')}`,
      )
    },
    { messageValues: 1_000 },
  )
  const events = (await response.text()).trim().split('\n\n')
  expect(events.map((each) => JSON.parse(each.slice('data: '.length)))).toEqual([
    { jsonrpc: '2.0', id: 1, result: 'a' },
    refused('has more than 1000 values'),
    { jsonrpc: '2.0', id: 2, result: 'b' },
  ])
})

test.each([
  ['an error page', 'text/html', 500],
  ['a JSON error', 'application/json', 404],
  ['another type', 'text/plain', 200],
])('an endless body of %s is read up to a megabyte', async (_title, type, status) => {
  const { response, written } = await fetchFrom(endless(type, 'x'.repeat(10_000), status))
  expect(response.status).toBe(status)
  expect(await response.text()).toHaveLength(1024 * 1024)
  expect(await written).toBeLessThan(20_000_000)
})

test('incomplete answers are bounded together, and release their memory', async () => {
  const { response, intake } = await fetchFrom(endless('application/json', 'x'.repeat(10_000)), {
    bufferedBytes: 50_000,
  })
  expect(await response.json()).toEqual(refused('does not fit beside others'))
  expect(intake.hold(50_000)).toBe(true)
})

test('an answer is not read after its request was aborted', async () => {
  const abort = new AbortController()
  const { response, written } = await fetchFrom(
    endless('application/json', 'x'.repeat(10_000)),
    {},
    { method: 'POST', body: '{"id":7}', signal: abort.signal },
  )
  const text = response.text()
  abort.abort(new Error('enough'))
  await expect(text).rejects.toThrow('enough')
  expect(await written).toBeGreaterThan(0)
})

const NOT_JSON = {
  code: -32_700,
  message: expect.stringMatching(/^its answer is no JSON \(near .*NaN/),
}
const typed = (type: string, text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(text)

test('a JSON body with control characters is mended, and one that is no JSON is an error of its request', async () => {
  const mended = await fetchFrom(typed('application/json', '{"id":7,"result":{"a":"x\ty"}}'))
  expect(await mended.response.json()).toEqual({ id: 7, result: { a: 'x\ty' } })
  const broken = await fetchFrom(typed('application/json', '{"id":7,"result":{"a":NaN}}'))
  expect(await broken.response.json()).toEqual({ jsonrpc: '2.0', id: 7, error: NOT_JSON })
})

test('events with control characters are mended, and those that are no JSON are errors of their requests', async () => {
  const events = [
    'event: endpoint\ndata: /mcp\n\n',
    'id: 1\ndata: {"id":7,\ndata: "result":{"a":"x\ty"}}\n\n',
    'data: {"id":8,"result":{"a":NaN}}\n\n',
    'data: {"id":9,"result":{}}\n\n',
  ]
  const { response } = await fetchFrom(typed('text/event-stream', events.join('')))
  const [first, second, third, last] = (await response.text()).split('\n\n')
  expect([first, last]).toEqual([events[0], events[3]].map((each) => each?.trimEnd()))
  expect(second).toBe('id: 1\ndata: {"id":7,"result":{"a":"x\\ty"}}')
  expect(JSON.parse(third?.slice('data: '.length) ?? '')).toMatchObject({ id: 8, error: NOT_JSON })
})

const EVENTS = 4_000
test.each([
  ['blank lines', '\n\n'],
  ['comments', ':\n\n'],
  ['comments with words', ': data: keep-alive\n\n'],
  ['empty events', 'event: message\n\n'],
  ['ids', 'id: 1\n\n'],
])('a stream of %s is paced, and a message among them is delivered', async (_title, useless) => {
  const { response, leftOut } = await fetchFrom(
    (to) => {
      to.writeHead(200, { 'content-type': 'text/event-stream' })
      to.end(`${useless.repeat(EVENTS)}data: {"a":1}\n\n`)
    },
    { noticesPerSecond: 10 },
  )
  let ticks = 0
  const ticking = setInterval(() => (ticks += 1), 5)
  expect(await response.text()).toBe('data: {"a":1}\n\n')
  clearInterval(ticking)
  expect(ticks).toBeGreaterThan(EVENTS / 512)
  expect(leftOut.notices).toBeGreaterThan(EVENTS / 2)
})

test('the time for the next stream is passed on', async () => {
  const { response } = await fetchFrom((to) => {
    to.writeHead(200, { 'content-type': 'text/event-stream' })
    to.end('retry: 500\n\nid: 7\ndata:\n\n: comment\n\n')
  })
  expect(await response.text()).toBe('retry: 500\n\nid: 7\ndata:\n\n')
})
