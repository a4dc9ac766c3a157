// What is particular to Gemini, over real HTTP to a server of our own.
import type { ServerResponse } from 'node:http'
import type { ToolCallId } from '@mcp-host/contracts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Question } from './__fixtures__/ask.ts'
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

async function say(question?: Question) {
  if (gemini?.name !== 'gemini') throw new Error('gemini is not the first')
  return await ask(modelAt(own.origin, gemini), 'rain?', question)
}

function send(response: ServerResponse, parts: object[], finishReason?: string): void {
  const candidate = { content: { role: 'model', parts }, finishReason }
  sendEvents(response, `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
}

test('the conversation, the tools and the system prompt are sent as Gemini wants them', async () => {
  own.answer = (response) => {
    send(response, [{ text: 'ok' }], 'STOP')
    response.end()
  }
  const id = 'session-0-0' as ToolCallId
  const arguments_ = { city: 'Oslo' }
  const signed = { google: { thoughtSignature: 'sealed' } }
  const name = 'w__weather'
  await say({
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
          { functionCall: { id, name, args: arguments_ }, thoughtSignature: 'sealed' },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id, name, response: { name, content: 'dry' } } }],
      },
      { role: 'user', parts: [{ text: 'thanks' }] },
    ],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  })
})

test('signatures of texts, thoughts and calls come back with their blocks', async () => {
  own.answer = (response) => {
    send(response, [{ text: 'hm', thought: true, thoughtSignature: 's1' }])
    send(response, [{ text: 'I ' }])
    send(response, [{ text: 'look', thoughtSignature: 's2' }])
    const functionCall = { name: 'w__weather', args: {} }
    send(response, [{ functionCall, thoughtSignature: 's3' }], 'STOP')
    response.end()
  }
  const { content } = await say({ tools })
  const signed = (thoughtSignature: string): object => ({ google: { thoughtSignature } })
  expect(content).toMatchObject([
    { type: 'reasoning', text: 'hm', providerMetadata: signed('s1') },
    { type: 'text', text: 'I look', providerMetadata: signed('s2') },
    { type: 'tool-call', name: 'w__weather', providerMetadata: signed('s3') },
  ])
})

test('an answer that went wrong has failed, and one that was stopped says why', async () => {
  const ends = async (finishReason: string) => {
    own.answer = (response) => {
      send(response, [{ text: 'half' }], finishReason)
      response.end()
    }
    return await say()
  }
  expect(await ends('MALFORMED_FUNCTION_CALL')).toMatchObject({
    outcome: 'failed',
    error: { code: 'unavailable' },
  })
  for (const [reason, why] of [
    ['MAX_TOKENS', 'the answer is as long as it may be'],
    ['SAFETY', 'its content filter ended the answer'],
  ] as const) {
    const notices = [`gemini stopped before its end: ${why}`]
    expect(await ends(reason)).toMatchObject({ outcome: 'completed', notices })
  }
})

test('a wrong key is called that, though Gemini answers 400 to it', async () => {
  own.answer = (response) => {
    const details = [{ reason: 'API_KEY_INVALID' }]
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { code: 400, message: 'API key not valid.', details } }))
  }
  expect((await say()).error).toMatchObject({ code: 'denied' })
})
