// Over real HTTP: against a stand-in that speaks Gemini's wire format, and a server of our own for what
// that cannot do.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { LLMock } from '@copilotkit/aimock'
import type { GenerateRequest, GenerationId, SessionId, ToolCallId } from '@mcp-host/contracts'
import { loadConfig } from '@mcp-host/service'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { workerSettings } from '../config.ts'
import { GenerationText } from '../generation/generation-text.ts'
import { runGeneration } from '../generation/run-generation.ts'
import type { Model } from '../model.ts'
import { geminiModel } from './gemini.ts'

const KEY = 'AIza-a-key-nobody-may-see'

function gemini(origin: string): Model {
  const env = { GEMINI_API_KEY: KEY, GEMINI_BASE_URL: `${origin}/v1beta`, LLM_MODEL: 'gemini-test' }
  return geminiModel(loadConfig(workerSettings, env))
}

function ask(
  origin: string,
  message: string,
  {
    signal = AbortSignal.any([]),
    onFirstText = () => undefined,
    ...more
  }: Partial<GenerateRequest> & { signal?: AbortSignal; onFirstText?: () => void } = {},
): ReturnType<typeof runGeneration> {
  const generation = 'session-0' as GenerationId
  const text = new GenerationText(generation)
  const deps = {
    model: gemini(origin),
    text,
    readPrompt: async (asked: GenerateRequest) => asked,
    emit: () => undefined,
    onFailure: () => {},
    onFirstText,
  }
  const request: GenerateRequest = {
    session: 'session' as SessionId,
    turn: 1,
    generation,
    deadline: Date.now() + 1e4,
    messages: [
      {
        role: 'user',
        text: message,
      },
    ],
    tools: [],
    ...more,
  }
  return runGeneration(deps, request, { signal })
}

const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
}
const weather = { safeName: 'w__weather', server: 'w', tool: 'weather', description: 'Tells it.' }
const tools = [{ ...weather, inputSchema }]

describe('a stand-in for Gemini', () => {
  const peer = new LLMock({ port: 0 })
  beforeAll(() => peer.start())
  afterAll(() => peer.stop())
  afterEach(() => void peer.reset())

  test('a text comes with its reasoning and the tokens it took', async () => {
    const usage = { promptTokenCount: 7, candidatesTokenCount: 3 }
    peer.onMessage('hello', { content: 'Hi there 👋!', reasoning: 'they greet', usage })
    const result = await ask(peer.url, 'hello')
    expect(result).toMatchObject({
      provider: 'gemini',
      model: 'gemini-test',
      outcome: 'completed',
      content: [
        { type: 'reasoning', text: 'they greet' },
        { type: 'text', text: 'Hi there 👋!' },
      ],
      usage: { inputTokens: 7, outputTokens: 3 },
    })
  })

  test('a long text comes in many pieces and is whole', async () => {
    const content = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ')
    peer.onMessage('long', { content }, { chunkSize: 7 })
    const result = await ask(peer.url, 'long')
    expect(result.content).toEqual([{ type: 'text', text: content }])
  })

  test('a tool call comes with its name and its arguments', async () => {
    const json = '{"city":"Oslo","days":[1,2]}'
    // The stand-in ends these wrongly by itself.
    const more = { finishReason: 'stop' }
    peer.onMessage('rain?', { toolCalls: [{ name: 'w__weather', arguments: json }], ...more })
    const result = await ask(peer.url, 'rain?', { tools })
    expect(result.content).toEqual([
      {
        type: 'tool-call',
        id: 'session-0-0',
        name: 'w__weather',
        server: 'w',
        tool: 'weather',
        arguments: {
          city: 'Oslo',
          days: [1, 2],
        },
      },
    ])
  })

  test.each([
    [401, 'denied', 'gemini answered 401: it does not accept the API key'],
    [403, 'denied', 'gemini answered 403: it does not accept the API key'],
    [404, 'not-found', 'gemini answered 404: it has no such model'],
    [429, 'exhausted', 'gemini answered 429: its rate limit is reached'],
    [400, 'invalid', 'gemini answered 400'],
    [408, 'unavailable', 'gemini answered 408'],
    [500, 'unavailable', 'gemini answered 500'],
    [503, 'unavailable', 'gemini answered 503'],
  ])('an answer of %i fails as %s', async (status, code, message) => {
    peer.nextRequestError(status, { message: `no, not with ${KEY}` })
    const result = await ask(peer.url, 'hello')
    expect(result).toMatchObject({ outcome: 'failed', content: [], error: { code, message } })
    expect(JSON.stringify(result)).not.toContain(KEY)
  })
})

describe('a server of our own', () => {
  let answer: (response: ServerResponse, request: IncomingMessage) => void
  let received: { url: string | undefined; key: unknown; body: unknown }[]
  let origin: string
  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const body: unknown = JSON.parse(text)
      received.push({ url: request.url, key: request.headers['x-goog-api-key'], body })
      answer(response, request)
    })
  })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())
  beforeEach(() => {
    received = []
  })

  function send(response: ServerResponse, parts: object[], finishReason?: string): void {
    const candidate = { content: { role: 'model', parts }, finishReason }
    if (!response.headersSent) response.setHeader('content-type', 'text/event-stream')
    response.write(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
  }

  test('the conversation, the tools and the system prompt are sent as Gemini wants them', async () => {
    answer = (response) => {
      send(response, [{ text: 'ok' }], 'STOP')
      response.end()
    }
    const id = 'session-0-0' as ToolCallId
    const arguments_ = { city: 'Oslo' }
    const signed = { google: { thoughtSignature: 'sealed' } }
    await ask(origin, '', {
      system: 'be kind',
      tools,
      messages: [
        { role: 'user', text: 'rain?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            {
              type: 'tool-call',
              id,
              name: 'w__weather',
              arguments: arguments_,
              providerMetadata: signed,
            },
          ],
        },
        { role: 'tool', answers: [{ call: id, name: 'w__weather', text: 'dry', isError: false }] },
        { role: 'user', text: 'thanks' },
      ],
    })
    const [{ url, key, body } = { url: '', key: '', body: {} }] = received
    expect(url).toBe('/v1beta/models/gemini-test:streamGenerateContent?alt=sse')
    expect(key).toBe(KEY)
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: 'be kind' }] },
      contents: [
        { role: 'user', parts: [{ text: 'rain?' }] },
        {
          role: 'model',
          parts: [
            { text: 'I look.' },
            {
              functionCall: { id, name: 'w__weather', args: arguments_ },
              thoughtSignature: 'sealed',
            },
          ],
        },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id,
                name: 'w__weather',
                response: {
                  name: 'w__weather',
                  content: 'dry',
                },
              },
            },
          ],
        },
        { role: 'user', parts: [{ text: 'thanks' }] },
      ],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    })
    const wire = JSON.stringify(body)
    expect(wire).toContain('"name":"w__weather","description":"Tells it."')
    expect(wire).toContain('"properties":{"city":{"type":"string"}}')
    expect(wire).not.toContain('$schema')
  })

  test('signatures of texts, thoughts and calls come back with their blocks', async () => {
    answer = (response) => {
      send(response, [{ text: 'hm', thought: true, thoughtSignature: 's1' }])
      send(response, [{ text: 'I ' }])
      send(response, [{ text: 'look', thoughtSignature: 's2' }])
      const functionCall = { name: 'w__weather', args: {} }
      send(response, [{ functionCall, thoughtSignature: 's3' }], 'STOP')
      response.end()
    }
    const result = await ask(origin, 'rain?', { tools })
    const signed = (thoughtSignature: string): object => ({ google: { thoughtSignature } })
    expect(result.content).toMatchObject([
      { type: 'reasoning', text: 'hm', providerMetadata: signed('s1') },
      { type: 'text', text: 'I look', providerMetadata: signed('s2') },
      { type: 'tool-call', name: 'w__weather', providerMetadata: signed('s3') },
    ])
  })

  test('an abort closes the connection to the provider', async () => {
    const closed = Promise.withResolvers<void>()
    const cancel = new AbortController()
    answer = (response) => {
      response.on('close', () => closed.resolve())
      send(response, [{ text: 'so far' }])
      setImmediate(() => cancel.abort())
    }
    const result = await ask(origin, 'hello', { signal: cancel.signal })
    expect(result.outcome).toBe('cancelled')
    await closed.promise
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['with a broken connection', (response) => response.destroy()],
    ['with an end like any other', (response) => response.end()],
  ])('an answer that is cut in mid-text %s has failed with the text so far', async (_, cut) => {
    let cutNow = (): void => undefined
    answer = (response) => {
      send(response, [{ text: 'half a' }])
      cutNow = () => cut(response)
    }
    const result = await ask(origin, 'hello', { onFirstText: () => cutNow() })
    expect(result).toMatchObject({
      outcome: 'failed',
      content: [{ type: 'text', text: 'half a' }],
      error: { code: 'unavailable', message: 'gemini broke off its answer' },
    })
  })

  test('a call in an answer that is cut is not taken for complete', async () => {
    answer = (response) => {
      send(response, [{ functionCall: { name: 'w__weather', args: {} } }])
      response.end()
    }
    const result = await ask(origin, 'rain?', { tools })
    expect(result.outcome).toBe('failed')
  })

  test.each([
    [
      400,
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ],
    [400, "This model's maximum context length is 8192 tokens. Reduce the length of the messages."],
    [400, 'prompt is too long: 210000 tokens > 200000 maximum'],
    [400, 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    [400, 'Request too large'],
    [413, 'Payload Too Large'],
  ])('a conversation that is too long is called that: %i %s', async (status, message) => {
    answer = (response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { code: status, message, status: 'INVALID' } }))
    }
    const result = await ask(origin, 'hello')
    expect(result.error).toMatchObject({ code: 'invalid', reason: 'context-overflow' })
  })

  test.each([
    [429, 'Too many tokens, please wait before trying again.', 'exhausted'],
    [400, 'Invalid value at tools[0]: the token is not known', 'invalid'],
  ])(
    'an answer of %i that says "%s" is none of a long conversation',
    async (status, message, code) => {
      answer = (response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { code: status, message, status: 'INVALID' } }))
      }
      const result = await ask(origin, 'hello')
      expect(result.error?.code).toBe(code)
      expect(result.error).not.toHaveProperty('reason')
    },
  )

  test('a wrong key is called that, though Gemini answers 400 to it', async () => {
    answer = (response) => {
      const details = [{ reason: 'API_KEY_INVALID' }]
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { code: 400, message: 'API key not valid.', details } }))
    }
    const result = await ask(origin, 'hello')
    expect(result.error).toMatchObject({ code: 'denied' })
  })
})

test('a provider that cannot be reached is unavailable', async () => {
  const result = await ask('http://127.0.0.1:1', 'hello')
  expect(result.error).toEqual({
    code: 'unavailable',
    message: 'gemini cannot be reached',
  })
})
