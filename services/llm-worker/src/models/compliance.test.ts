// The behaviour of every provider over real HTTP, against LLMock, which speaks their wire formats, and against
// a plain HTTP server for cases that LLMock does not support.
import type { ServerResponse } from 'node:http'
import { LLMock } from '@copilotkit/aimock'
import type { ToolCallId } from '@mcp-host/contracts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { providerTypes } from '../providers/index.ts'
import type { AskOptions } from './__fixtures__/ask.ts'
import { ask, KEY, MODEL, modelAt } from './__fixtures__/ask.ts'
import type { OwnServer, Received } from './__fixtures__/own-server.ts'
import { sendEvents, startOwnServer } from './__fixtures__/own-server.ts'
import { IMAGE, subjects } from './__fixtures__/subjects.ts'
import type { Answer } from './__fixtures__/wire-formats.ts'

const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
}
const weather = { safeName: 'w__weather', server: 'w', tool: 'weather', description: 'Tells it.' }
const tools = [{ ...weather, inputSchema }]

/** All nested objects of a request. */
function* partsOf(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return
  yield value
  for (const each of Object.values(value)) yield* partsOf(each)
}

/** The beginning of a picture in base64. */
const PNG = Buffer.from('\x89PNG\r\n\x1A\n and more', 'latin1').toString('base64')
const NOTHING: Received = { method: '', url: '', headers: {}, body: {} }
const mock = new LLMock({ port: 0 })
let own: OwnServer
beforeAll(async () => {
  await mock.start()
  own = await startOwnServer()
})
afterAll(async () => {
  await mock.stop()
  await own[Symbol.asyncDispose]()
})
afterEach(() => void mock.reset())
beforeEach(() => {
  own.received.length = 0
})

test('the suite covers every provider except the demo model', () => {
  const names = subjects.map(({ name }) => name)
  expect([...names, 'demo'].toSorted()).toEqual(providerTypes.toSorted())
})

describe.each(subjects)('$name', (subject) => {
  const { name, path, wire, usage, keyHeader } = subject
  const askOwn = (options?: AskOptions) => ask(modelAt(own.origin, subject), 'hello', options)
  /** The result of a generation that is answered with `answer`. */
  const resultOf = (answer: Answer, options?: AskOptions) => {
    const { whole } = wire
    if (whole !== undefined) {
      own.answer = (response) => {
        sendEvents(response, whole(answer))
        response.end()
      }
      return askOwn(options)
    }
    // LLMock sends a wrong finish reason for calls of Gemini.
    const more = name === 'gemini' && answer.toolCalls !== undefined ? { finishReason: 'stop' } : {}
    mock.onMessage('hello', { ...answer, usage, ...more } as Parameters<LLMock['onMessage']>[1], {
      chunkSize: 7,
    })
    return ask(modelAt(mock.url, subject), 'hello', options)
  }
  const begin = (response: ServerResponse, text: string): void =>
    sendEvents(response, wire.begin + wire.openText + wire.text(text))

  test('a text is returned with its usage', async () => {
    const { content, ...result } = await resultOf({ content: 'Hi there 👋!' })
    expect(content.at(-1)).toMatchObject({ type: 'text', text: 'Hi there 👋!' })
    expect(result).toMatchObject({
      provider: name,
      model: MODEL,
      outcome: 'completed',
      usage: { inputTokens: 7, outputTokens: 3 },
    })
  })

  test('a long text in many pieces is joined', async () => {
    const content = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ')
    expect((await resultOf({ content })).content.at(-1)).toMatchObject({
      type: 'text',
      text: content,
    })
  })

  test('reasoning is returned as a block before the text', async () => {
    expect((await resultOf({ content: 'Hi', reasoning: 'they greet' })).content).toMatchObject([
      { type: 'reasoning', text: 'they greet' },
      { type: 'text', text: 'Hi' },
    ])
  })

  test.each([1, 3])('%i tool calls are returned with names and arguments', async (count) => {
    const arguments_ = (index: number) => ({ city: `Oslo ${index}`, days: [1, index] })
    const toolCalls = Array.from({ length: count }, (_, index) => ({
      name: 'w__weather',
      arguments: JSON.stringify(arguments_(index)),
    }))
    const { outcome, content } = await resultOf({ toolCalls }, { tools })
    expect(outcome).toBe('completed')
    expect(content.filter(({ type }) => type === 'tool-call')).toMatchObject(
      toolCalls.map((_, index) => ({
        type: 'tool-call',
        id: `session-0-${index}`,
        name: 'w__weather',
        server: 'w',
        tool: 'weather',
        arguments: arguments_(index),
      })),
    )
  })

  test('model, system prompt and tools are sent in the request, the key only in its header', async () => {
    own.answer = (response) => {
      begin(response, 'ok')
      response.end(wire.closeText + wire.end)
    }
    const { outcome } = await askOwn({ system: 'be kind', tools })
    expect(outcome).toBe('completed')
    const [{ url, headers, body } = NOTHING] = own.received
    const wired = JSON.stringify(body)
    for (const part of [
      'be kind',
      'hello',
      'w__weather',
      'Tells it.',
      '"city":{"type":"string"}',
    ]) {
      expect(wired).toContain(part)
    }
    expect(url + wired).toContain(MODEL)
    expect(wired).not.toContain('$schema')
    const sent = keyHeader === undefined ? undefined : headers[keyHeader]
    expect(sent?.toString().replace(/^Bearer /, '')).toBe(keyHeader && KEY)
    expect(url + wired).not.toContain(KEY)
  })

  test.each([
    [400, 'invalid', 'answered 400: no, not with [secret]'],
    [401, 'denied', 'answered 401: it does not accept the API key; check KEY'],
    [
      403,
      'denied',
      'answered 403: it refuses this request, or the API key for it (no, not with [secret]); check KEY',
    ],
    [404, 'not-found', 'answered 404: it has no such model (no model, not with [secret])'],
    [408, 'unavailable', 'answered 408: no, not with [secret]'],
    [429, 'exhausted', 'answered 429: its rate limit is reached (no, not with [secret])'],
    [500, 'unavailable', 'answered 500: no, not with [secret]'],
    [503, 'unavailable', 'answered 503: no, not with [secret]'],
    [529, 'unavailable', 'answered 529: no, not with [secret]'],
  ])('the status %i fails as %s', async (status, code, message) => {
    // Local providers get no key.
    const repeated = keyHeader === undefined ? '[secret]' : KEY
    const no = status === 404 ? 'no model' : 'no'
    mock.nextRequestError(status, { message: `${no}, not with ${repeated}` })
    const result = await ask(modelAt(mock.url, subject), 'hello')
    const variable = `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`
    const told = message
      .replace('KEY', variable)
      .replace('does not accept the', keyHeader === undefined ? 'wants an' : '$&')
    const error = { code, message: `${name} ${told}` }
    expect(result).toMatchObject({ outcome: 'failed', content: [], error })
    expect(JSON.stringify(result)).not.toContain(KEY)
  })

  test('an abort closes the connection to the provider', async () => {
    const closed = Promise.withResolvers<void>()
    const cancel = new AbortController()
    own.answer = (response) => {
      response.on('close', () => closed.resolve())
      begin(response, 'so far')
    }
    const result = await askOwn({ signal: cancel.signal, onFirstText: () => cancel.abort() })
    expect(result).toMatchObject({ outcome: 'cancelled', content: [{ text: 'so far' }] })
    await closed.promise
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['with a broken connection', (response) => response.destroy()],
    ['with a regular end of the stream', (response) => response.end()],
  ])('an answer that ends in mid-text %s fails with the partial text', async (_, cut) => {
    let cutNow = (): void => undefined
    own.answer = (response) => {
      begin(response, 'half a')
      cutNow = () => cut(response)
    }
    const result = await askOwn({ onFirstText: () => cutNow() })
    expect(result).toMatchObject({
      outcome: 'failed',
      content: [{ type: 'text', text: 'half a' }],
      error: { code: 'unavailable', message: `${name} broke off its answer` },
    })
  })

  test.each([
    ['nothing', (): string => ''],
    ['the first event', (): string => wire.begin],
  ])('an answer with only %s fails', async (_, sent) => {
    own.answer = (response) => {
      sendEvents(response, sent())
      response.end()
    }
    const error = { code: 'unavailable', message: `${name} broke off its answer` }
    expect(await askOwn()).toMatchObject({ outcome: 'failed', content: [], error })
  })

  test('an answer that ends in mid-call fails', async () => {
    own.answer = (response) => {
      begin(response, 'I look.')
      sendEvents(response, wire.closeText + wire.halfCall('w__weather', '{"city":"Oslo"}'))
      response.end()
    }
    const result = await askOwn({ tools })
    expect(result.outcome).toBe('failed')
  })

  const TOO_LONG = `${name} sent an answer of more than 4194304 characters`

  test('an answer without an end is cut', async () => {
    const closed = Promise.withResolvers<void>()
    own.answer = (response) => {
      begin(response, '')
      const pour = (): void => {
        while (!response.destroyed && response.write(wire.text('x'.repeat(65_536))));
      }
      response.on('drain', pour).on('close', () => closed.resolve())
      pour()
    }
    const result = await askOwn()
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { code: 'invalid', message: TOO_LONG },
    })
    await closed.promise
  })

  test('arguments without an end are cut', async () => {
    // Gemini sends the arguments of a call at once, in one line.
    if (name === 'gemini') return
    own.answer = (response) => {
      begin(response, 'I look.')
      const endless = `{"city":"${'x'.repeat(9 * 1024 * 1024)}`
      sendEvents(response, wire.closeText + wire.halfCall('w__weather', endless))
    }
    expect(await askOwn({ tools })).toMatchObject({
      outcome: 'failed',
      error: { message: TOO_LONG },
    })
  })

  test('characters that are split between packets are joined', async () => {
    own.answer = (response) => {
      const bytes = Buffer.from(
        wire.begin + wire.openText + wire.text('Grüße 👋🏽 数学') + wire.closeText + wire.end,
      )
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let at = 0
      const writeNext = (): void => {
        if (at >= bytes.length) return void response.end()
        response.write(bytes.subarray(at, at + 3), () => setImmediate(writeNext))
        at += 3
      }
      writeNext()
    }
    expect(await askOwn()).toMatchObject({
      outcome: 'completed',
      content: [{ type: 'text', text: 'Grüße 👋🏽 数学' }],
      usage: { inputTokens: 7, outputTokens: 3 },
    })
  })

  describe('files', () => {
    const image = { mimeType: 'image/png', name: 'a.png', data: IMAGE }
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const user = (...media: { mimeType: string; name?: string; data: string }[]): AskOptions => ({
      messages: [{ role: 'user', text: 'what is this?', media }],
    })
    /** The request that the plain server received, and the result of the generation. */
    const sent = async (options: AskOptions) => {
      own.answer = (response) => {
        begin(response, 'ok')
        response.end(wire.closeText + wire.end)
      }
      const result = await askOwn(options)
      expect(result.outcome).toBe('completed')
      return { ...result, body: own.received.at(-1)?.body }
    }

    test('an image of a message is sent with it', async () => {
      const { body, notices } = await sent(user(image))
      expect(Array.from(partsOf(body))).toContainEqual(expect.objectContaining(subject.image))
      expect(JSON.stringify(body)).toContain('what is this?')
      expect(notices).toBeUndefined()
    })

    test('an image of a tool result is sent after its text', async () => {
      const call = 'session-0-0' as ToolCallId
      const { body } = await sent({
        tools,
        messages: [
          { role: 'user', text: 'look outside' },
          {
            role: 'assistant',
            content: [{ type: 'tool-call', id: call, name: 'w__weather', arguments: {} }],
          },
          {
            role: 'tool',
            answers: [
              {
                call,
                name: 'w__weather',
                text: 'see for yourself',
                isError: false,
                media: [image],
              },
            ],
          },
        ],
      })
      expect(Array.from(partsOf(body))).toContainEqual(expect.objectContaining(subject.image))
      const wired = JSON.stringify(body)
      expect(wired.indexOf(IMAGE)).toBeGreaterThan(wired.indexOf('see for yourself'))
    })

    test('a PDF is sent to a provider that reads PDFs, else named in the prompt', async () => {
      const { body, notices } = await sent(
        user({ mimeType: 'application/pdf', name: 'a.pdf', data: IMAGE }),
      )
      if (subject.pdf === undefined) {
        expect(notices).toEqual([`${name} cannot read the file a.pdf (application/pdf)`])
      } else {
        expect(Array.from(partsOf(body))).toContainEqual(expect.objectContaining(subject.pdf))
        expect(notices).toBeUndefined()
      }
    })

    test('a text file is sent as text', async () => {
      const { body, notices } = await sent(
        user({ mimeType: 'text/csv', name: 'sums.csv', data: base64('ä;1') }),
      )
      expect(JSON.stringify(body)).toContain(
        JSON.stringify('File sums.csv (text/csv):\nä;1').slice(1, -1),
      )
      expect(notices).toBeUndefined()
    })

    test('an unsupported file is named in the prompt and in a notice to the user', async () => {
      const { body, notices } = await sent(
        user({ mimeType: 'application/x-tar', name: 'all.tar', data: base64('tar') }),
      )
      expect(JSON.stringify(body)).toContain(
        '[The file all.tar (application/x-tar) cannot be shown',
      )
      expect(notices).toEqual([`${name} cannot read the file all.tar (application/x-tar)`])
    })

    test('a request with refused files is retried without them, with a notice to the user', async () => {
      own.answer = (response, { body }) => {
        if (JSON.stringify(body).includes(IMAGE)) {
          response.writeHead(400, { 'content-type': 'application/json' })
          response.end('{"error":{"message":"this model does not read images"}}')
          return
        }
        begin(response, 'without the image')
        response.end(wire.closeText + wire.end)
      }
      const { outcome, content, notices } = await askOwn(user(image))
      expect({ outcome, content }).toMatchObject({
        outcome: 'completed',
        content: [{ text: 'without the image' }],
      })
      expect(notices).toEqual([`${name} answers without a.png (image/png): it refuses that`])
      expect(own.received).toHaveLength(2)
    })

    test('a request whose files are all sent as text is not repeated without them', async () => {
      own.answer = (response) => {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"no such field"}}')
      }
      const files = user(
        { mimeType: 'application/x-tar', name: 'all.tar', data: base64('tar') },
        { mimeType: 'text/csv', name: 'sums.csv', data: base64('1;2') },
      )
      expect(await askOwn(files)).toMatchObject({ outcome: 'failed', error: { code: 'invalid' } })
      expect(own.received).toHaveLength(1)
    })

    test('only the refused one of several files is left out, also of later requests', async () => {
      const bad = { ...image, name: 'bad.png', data: base64('a bad image') }
      const model = modelAt(own.origin, subject)
      own.answer = (response, { body }) => {
        if (JSON.stringify(body).includes(bad.data)) {
          response.writeHead(400, { 'content-type': 'application/json' })
          response.end('{"error":{"message":"this is no image"}}')
          return
        }
        begin(response, 'fine')
        response.end(wire.closeText + wire.end)
      }
      const first = await ask(model, 'hello', user(image, bad))
      expect(first.notices).toEqual([
        `${name} answers without bad.png (image/png): it refuses that`,
      ])
      expect(JSON.stringify(own.received.at(-1)?.body)).toContain(IMAGE)
      own.received.length = 0
      const [old] = user(image, bad).messages ?? []
      const messages = [old, { role: 'user', text: 'and now?' }] as AskOptions['messages'] & {}
      const second = await ask(model, 'hello', { messages })
      expect(second).toMatchObject({ outcome: 'completed' })
      expect(second).not.toHaveProperty('notices')
      expect(own.received).toHaveLength(1)
      expect(JSON.stringify(own.received[0]?.body)).toContain(IMAGE)
    })

    test.each([
      ['another type', 'image/jpeg', PNG],
      ['no type', 'application/octet-stream', PNG],
      ['a data URL', 'image/png', `data:image/png;base64,${PNG}`],
    ])('a picture with %s is sent with the type of its bytes', async (_, mimeType, data) => {
      const { body, notices } = await sent(user({ mimeType, data }))
      const wired = JSON.stringify(body)
      expect(wired).toContain('image/png')
      expect(wired).toContain(PNG)
      expect(wired).not.toContain('image/jpeg')
      expect(notices).toBeUndefined()
    })

    test('a context overflow is not retried without files', async () => {
      own.answer = (response) => {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"prompt is too long: 300000 tokens"}}')
      }
      const { error } = await askOwn(user(image))
      expect(error).toMatchObject({ code: 'invalid', reason: 'context-overflow' })
      expect(own.received).toHaveLength(1)
    })
  })

  test('a refused tool is left out of this and later requests, with a notice to the user', async () => {
    const model = modelAt(own.origin, subject)
    const bad = { ...weather, safeName: 'w__bad', inputSchema }
    own.answer = (response, { body }) => {
      if (JSON.stringify(body).includes('w__bad')) {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"Invalid schema for function w__bad"}}')
        return
      }
      begin(response, 'fine')
      response.end(wire.closeText + wire.end)
    }
    const expected = { outcome: 'completed', content: [{ text: 'fine' }] }
    const notices = [`${name} does not get the tool w__bad: the provider refuses its schema`]
    const offer = { tools: [...tools, bad] }
    expect(await ask(model, 'hello', offer)).toMatchObject({ ...expected, notices })
    expect(own.received).toHaveLength(2)
    expect(JSON.stringify(own.received[1]?.body)).toContain('w__weather')
    expect(await ask(model, 'hello', offer)).toMatchObject({ ...expected, notices })
    expect(own.received).toHaveLength(3)
    // The provider may accept another schema.
    const changed = { ...bad, inputSchema: { type: 'object' } }
    await ask(model, 'hello', { tools: [...tools, changed] })
    expect(JSON.stringify(own.received[3]?.body)).toContain('w__bad')
  })

  test('all tools that a refusal names are left out at once, also after a failed answer', async () => {
    const model = modelAt(own.origin, subject)
    const bad = Array.from({ length: 7 }, (_, index) => ({
      ...weather,
      safeName: `w__bad${index}`,
      inputSchema,
    }))
    let isDown = true
    own.answer = (response, { body }) => {
      const named = bad.filter(({ safeName }) => JSON.stringify(body).includes(safeName))
      if (named.length > 0 || isDown) {
        response.writeHead(named.length > 0 ? 400 : 401, { 'content-type': 'application/json' })
        const message = named.map(({ safeName }) => `Invalid schema for ${safeName}`).join('; ')
        response.end(JSON.stringify({ error: { message } }))
        return
      }
      begin(response, 'fine')
      response.end(wire.closeText + wire.end)
    }
    const offer = { tools: [...tools, ...bad] }
    expect(await ask(model, 'hello', offer)).toMatchObject({ outcome: 'failed' })
    expect(own.received).toHaveLength(2)
    isDown = false
    const result = await ask(model, 'hello', offer)
    const names = bad.map(({ safeName }) => safeName).join(', ')
    expect(result).toMatchObject({
      outcome: 'completed',
      notices: [`${name} does not get the tools ${names}: the provider refuses their schemas`],
    })
    expect(own.received).toHaveLength(3)
    expect(JSON.stringify(own.received[2]?.body)).toContain('w__weather')
  })

  test.each([
    [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    [400, '`tool calling` is not supported with this model'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [404, 'No endpoints found that support tool use.'],
    [500, 'tools param requires --jinja flag'],
  ])('after %i "%s" a model is asked without tools, with a notice', async (status, message) => {
    const model = modelAt(own.origin, subject)
    own.answer = (response, { body }) => {
      if (JSON.stringify(body).includes('w__weather')) {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message } }))
        return
      }
      begin(response, 'fine')
      response.end(wire.closeText + wire.end)
    }
    for (const requests of [2, 3]) {
      const notices = [`${name} answers without tools, which this model does not support`]
      const result = await ask(model, 'hello', { tools })
      expect(result).toMatchObject({ outcome: 'completed', notices })
      expect(own.received).toHaveLength(requests)
    }
  })

  test('a tool that did not cause a refusal is offered again', async () => {
    const model = modelAt(own.origin, subject)
    own.answer = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"a signature is missing for the call of w__weather"}}')
    }
    expect(await ask(model, 'hello', { tools })).toMatchObject({ outcome: 'failed' })
    own.received.length = 0
    own.answer = (response) => {
      begin(response, 'fine')
      response.end(wire.closeText + wire.end)
    }
    const result = await ask(model, 'hello', { tools })
    expect(result).toMatchObject({ outcome: 'completed' })
    expect(result).not.toHaveProperty('notices')
    expect(JSON.stringify(own.received[0]?.body)).toContain('w__weather')
  })

  test.each([
    [{ code: 429, message: 'slow down' }, 'exhausted', 'its rate limit is reached (slow down)'],
    [
      { code: 402, message: 'Insufficient credits' },
      'denied',
      'the account has no credit left there (Insufficient credits)',
    ],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'unavailable', 'Overloaded'],
    [{ type: 'invalid_request_error', message: 'no such field' }, 'invalid', 'no such field'],
    [{ message: 'the GPU is gone' }, 'unavailable', 'the GPU is gone'],
  ])('the error %j within a stream keeps its words and meaning', async (error, code, words) => {
    own.answer = (response) => {
      begin(response, 'half a')
      sendEvents(response, `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
      response.end()
    }
    expect(await askOwn()).toMatchObject({
      outcome: 'failed',
      content: [{ type: 'text', text: 'half a' }],
      error: { code, message: `${name} broke off its answer: ${words}` },
    })
  })

  test('an overflow within a stream is known', async () => {
    own.answer = (response) => {
      const message = 'The number of tokens to keep from the prompt exceeds the context length'
      sendEvents(response, `data: ${JSON.stringify({ error: { message } })}\n\n`)
      response.end()
    }
    const { error } = await askOwn()
    expect(error).toMatchObject({ code: 'invalid', reason: 'context-overflow' })
  })

  test('events of unknown types are passed over', async () => {
    const unknown = (type: string, more: object = {}): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
    own.answer = (response) => {
      sendEvents(response, unknown('new.begin') + wire.begin + unknown('new.event', { usage: 'x' }))
      sendEvents(response, wire.openText + wire.text('wh') + unknown('new.delta', { delta: 7 }))
      sendEvents(response, wire.text('ole') + wire.closeText + wire.end + unknown('new.end'))
      response.end()
    }
    expect(await askOwn()).toMatchObject({
      outcome: 'completed',
      content: [{ type: 'text', text: 'whole' }],
    })
  })

  test('a long conversation that is refused without a reason counts as too long', async () => {
    own.answer = (response) =>
      void response.writeHead(400).end('{"error":{"message":"Bad Request"}}')
    const window = modelAt(own.origin, subject).contextWindow ?? 0
    const asked = async (share: number) =>
      ask(modelAt(own.origin, subject), 'word '.repeat((window * 4 * share) / 5))
    expect((await asked(0.6)).error).toMatchObject({ code: 'invalid', reason: 'context-overflow' })
    expect((await asked(0.4)).error).not.toHaveProperty('reason')
  })

  test.each([
    ['without a version', ''],
    ['with a slash', `${path}//`],
    ['without a version, with a slash', '/'],
    ['of its list of models', `${path}/models`],
  ])('an address %s works', async (_, written) => {
    own.answer = (response, { url }) => {
      if (url?.startsWith(`${path}/`) !== true) {
        response.writeHead(404).end('no page')
        return
      }
      begin(response, 'fine')
      response.end(wire.closeText + wire.end)
    }
    const model = modelAt(own.origin, { ...subject, path: written })
    expect(await ask(model, 'hello')).toMatchObject({ outcome: 'completed' })
    own.received.length = 0
    expect(await ask(model, 'hello')).toMatchObject({ outcome: 'completed' })
    // The end of the address is known by then.
    expect(own.received).toHaveLength(1)
  })

  test.each([
    [
      404,
      'text/plain',
      'no page',
      /answered 404: nothing is at http:.* \(no page\); check [A-Z_]+_BASE_URL/,
    ],
    [404, 'application/json', '{}', /answered 404: nothing is at http:\S+; check [A-Z_]+_BASE_URL/],
    [
      405,
      'text/html',
      '<title>405 No</title>',
      /answered 405: nothing is at http:\S+ \(a web page, 405 No\); check [A-Z_]+_BASE_URL/,
    ],
    [
      200,
      'text/html',
      '<p>hi',
      /answered with a web page, not as an API, at http:\S+; check [A-Z_]+_BASE_URL/,
    ],
  ])('an address with %i as %s "%s" is told', async (status, type, body, message) => {
    own.answer = (response) => {
      response.writeHead(status, { 'content-type': type }).end(body)
    }
    for (const written of [path, '']) {
      const { error } = await ask(modelAt(own.origin, { ...subject, path: written }), 'hello')
      expect(error?.message).toMatch(message)
    }
  })

  test('a provider that cannot be reached fails as unavailable', async () => {
    const result = await ask(modelAt('http://127.0.0.1:1', subject), 'hello')
    const setting = `${name.toUpperCase().replaceAll('-', '_')}_BASE_URL`
    const message = `${name} cannot be reached; its address is http://127.0.0.1:1 (${setting})`
    expect(result.error).toEqual({ code: 'unavailable', message })
  })
})
