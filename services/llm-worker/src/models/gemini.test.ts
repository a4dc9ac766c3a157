// Behaviour specific to Gemini, over real HTTP against a plain server.
import type { ServerResponse } from 'node:http'
import type { ToolCallId } from '@mcp-host/contracts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AskOptions } from './__fixtures__/ask.ts'
import { ask, modelAt } from './__fixtures__/ask.ts'
import type { OwnServer } from './__fixtures__/own-server.ts'
import { sendEvents, startOwnServer } from './__fixtures__/own-server.ts'
import { subjects } from './__fixtures__/subjects.ts'

const [gemini] = subjects
const inputSchema = { type: 'object', properties: { city: { type: 'string' } } }
const weather = { safeName: 'w__weather', server: 'w', tool: 'weather', description: 'Tells it.' }
const tools = [{ ...weather, inputSchema }]

let own: OwnServer
beforeAll(async () => {
  own = await startOwnServer()
})
afterAll(() => own[Symbol.asyncDispose]())
beforeEach(() => {
  own.received.length = 0
})

async function askGemini(options?: AskOptions) {
  if (gemini?.name !== 'gemini') throw new Error('gemini is not the first')
  return await ask(modelAt(own.origin, gemini), 'rain?', options)
}

function send(response: ServerResponse, parts: object[], finishReason?: string): void {
  const candidate = { content: { role: 'model', parts }, finishReason }
  sendEvents(response, `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
}

test('conversation, tools and system prompt are sent in the format of Gemini', async () => {
  own.answer = (response) => {
    send(response, [{ text: 'ok' }], 'STOP')
    response.end()
  }
  const id = 'session-0-0' as ToolCallId
  const arguments_ = { city: 'Oslo' }
  const signed = { google: { thoughtSignature: 'sealed' } }
  const name = 'w__weather'
  await askGemini({
    system: 'be kind',
    tools,
    messages: [
      { role: 'user', text: 'rain?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', id, name, arguments: arguments_, providerMetadata: signed },
        ],
      },
      { role: 'tool', answers: [{ call: id, name, text: 'dry', isError: false }] },
      { role: 'user', text: 'thanks' },
    ],
  })
  const [{ url, body } = { url: '', body: {} }] = own.received
  expect(url).toBe('/v1beta/models/test-model:streamGenerateContent?alt=sse')
  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: 'be kind' }] },
    contents: [
      { role: 'user', parts: [{ text: 'rain?' }] },
      {
        role: 'model',
        parts: [
          { text: 'I look.' },
          { functionCall: { id: 'c00000001', name, args: arguments_ }, thoughtSignature: 'sealed' },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c00000001', name, response: { name, content: 'dry' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'thanks' }] },
    ],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  })
})

test('signatures of texts, thoughts and calls are kept with their blocks', async () => {
  own.answer = (response) => {
    send(response, [{ text: 'hm', thought: true, thoughtSignature: 's1' }])
    send(response, [{ text: 'I ' }])
    send(response, [{ text: 'look', thoughtSignature: 's2' }])
    const functionCall = { name: 'w__weather', args: {} }
    send(response, [{ functionCall, thoughtSignature: 's3' }], 'STOP')
    response.end()
  }
  const { content } = await askGemini({ tools })
  const signed = (thoughtSignature: string): object => ({ google: { thoughtSignature } })
  expect(content).toMatchObject([
    { type: 'reasoning', text: 'hm', providerMetadata: signed('s1') },
    { type: 'text', text: 'I look', providerMetadata: signed('s2') },
    { type: 'tool-call', name: 'w__weather', providerMetadata: signed('s3') },
  ])
})

test('an abnormal finish reason fails the answer, and a limit is stated in a notice', async () => {
  const resultWith = async (finishReason: string) => {
    own.answer = (response) => {
      send(response, [{ text: 'half' }], finishReason)
      response.end()
    }
    return await askGemini()
  }
  expect(await resultWith('MALFORMED_FUNCTION_CALL')).toMatchObject({
    outcome: 'failed',
    error: { code: 'unavailable' },
  })
  for (const [reason, why] of [
    ['MAX_TOKENS', 'the answer is as long as it may be'],
    ['SAFETY', 'its content filter ended the answer'],
  ] as const) {
    const notices = [`gemini stopped before its end: ${why}`]
    expect(await resultWith(reason)).toMatchObject({ outcome: 'completed', notices })
  }
})

test('a wrong key fails as denied although Gemini answers 400', async () => {
  own.answer = (response) => {
    const details = [{ reason: 'API_KEY_INVALID' }]
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { code: 400, message: 'API key not valid.', details } }))
  }
  expect((await askGemini()).error).toMatchObject({ code: 'denied' })
})
