// Fallbacks for every kind of failure of a provider: the user gets one whole answer with the name of its model.
// Also the model, limits and cost of a session.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, script, startStack, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

let answer: (response: ServerResponse) => void
const provider = createServer((request, response) => {
  // The list of models.
  if (request.method === 'GET') {
    response.writeHead(404).end()
    return
  }
  request.resume().on('end', () => answer(response))
})

let stack: Stack
let open: AsyncDisposable
beforeAll(async () => {
  await using resources = new AsyncDisposableStack()
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  const folder = resources.use(await testFolder())
  const file = join(folder.path, 'llm.json')
  const failing = {
    type: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    timeouts: { firstToken: 1_000, betweenTokens: 1_000, queue: 500 },
    limits: { concurrent: 1 },
    models: { priced: { prices: { input: 2, output: 10 } } },
  }
  const away = { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' }
  await writeFile(file, JSON.stringify({ fallback: ['demo'], providers: { failing, away } }))
  stack = resources.use(
    await startStack({ env: { LLM_CONFIG: file, LLM_PROVIDER: 'demo', LLM_RETRY_MS: '50' } }),
  )
  open = resources.move()
})
afterAll(async () => {
  await open[Symbol.asyncDispose]()
  provider.closeAllConnections()
  provider.close()
})

const part = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`
const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}
const fail = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status).end('{}')

test.each<[string, string, (response: ServerResponse) => void]>([
  ['cannot be reached', 'away/m', fail(500)],
  ['answered 500', 'failing/m500', fail(500)],
  ['answered 401', 'failing/m401', fail(401)],
  ['answered 404', 'failing/m404', fail(404)],
  [
    'answered 429',
    'failing/m429',
    (response) => void response.writeHead(429, { 'retry-after': '60' }).end(),
  ],
  ['did not begin to answer', 'failing/silent', () => undefined],
  [
    'broke off its answer',
    'failing/cut',
    (response) => {
      begin(response)
      response.write(part('half of'), () => setTimeout(() => response.destroy(), 50))
    },
  ],
  [
    'wrote nothing more',
    'failing/stalls',
    (response) => {
      begin(response)
      response.write(part('half of'))
    },
  ],
])(
  'a provider that %s is replaced by its fallback',
  { timeout: 30_000 },
  async (failure, model, act) => {
    answer = act
    using chat = await ChatSocket.open(stack)
    chat.send({ type: 'message', payload: { text: script({ text: 'all of it' }), model } })
    await chat.turnsDone()
    const events = chat.events
    const reset = events.findLastIndex(({ type }) => type === 'reset')
    const text = events
      .slice(reset + 1)
      .flatMap((event) => (event.type === 'text' ? [event.payload.content] : []))
    expect(text.join('')).toBe('all of it')
    const [name] = model.split('/')
    const messages = events.flatMap((event) =>
      event.type === 'status' ? [event.payload.message] : [],
    )
    expect(messages.join('\n')).toContain(`${name} ${failure}`)
    expect(messages.join('\n')).toContain('demo answers instead')
  },
)

/** A complete answer with a usage. */
const whole =
  (text: string, wait = Promise.resolve()) =>
  (response: ServerResponse): void => {
    begin(response)
    response.write(part(text))
    const last = { index: 0, delta: {}, finish_reason: 'stop' }
    const usage = { prompt_tokens: 1_000, completion_tokens: 100 }
    const end = JSON.stringify({ id: 'c', choices: [last], usage })
    void wait.then(() => response.end(`data: ${end}\n\ndata: [DONE]\n\n`))
  }

test('a session uses its chosen model with its cost, until another is chosen', async () => {
  answer = whole('paid for')
  const call = async (method: string, path: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, headers, body: JSON.stringify(body) }
    return (await fetch(`${stack.url}/api/chat${path}`, init)).json()
  }
  const model = 'failing/priced'
  const begun = (await call('POST', '/session', { model })) as { sessionId: string }
  expect(begun).toMatchObject({ session: { title: '', model } })
  const { sessionId } = begun
  using chat = await ChatSocket.open({ ...stack, sessionId })
  chat.say('hello')
  await chat.turnsDone()
  expect(await call('PATCH', `/session/${sessionId}`, { model: null })).not.toHaveProperty('model')
  chat.say(script({ text: 'for nothing' }))
  await chat.turnsDone(2)
  expect(chat.text).toBe('paid forfor nothing')
  const usage = chat.events.flatMap((event) =>
    event.type === 'turn' && event.payload.state === 'done' ? event.payload.usage : [],
  )
  expect(usage).toMatchObject([
    { provider: 'failing', model: 'priced', cost: 0.003 },
    { provider: 'demo' },
  ])
  expect(await call('PATCH', `/session/${sessionId}`, { model: 'parrot' })).toMatchObject({
    error: { code: 'invalid', field: 'model', message: expect.stringContaining('demo') },
  })
})

test('a provider at its limit of requests is replaced by its fallback', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  answer = whole('slowly', promise)
  using first = await ChatSocket.open(stack)
  using second = await ChatSocket.open(stack)
  const model = 'failing/busy'
  first.send({ type: 'message', payload: { text: 'hello', model } })
  await first.waitFor((frame) => frame.type === 'text')
  second.send({ type: 'message', payload: { text: script({ text: 'at once' }), model } })
  await second.turnsDone()
  expect(second.text).toBe('at once')
  const payloads = second.events.map((event) => JSON.stringify(event.payload)).join('\n')
  expect(payloads).toContain('failing has as much to do as it may; demo answers instead')
  resolve()
  await first.turnsDone()
  expect(first.text).toBe('slowly')
})
