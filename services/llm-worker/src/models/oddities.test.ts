// What providers and the servers behind them send against their own formats, over real HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, modelAt } from './__fixtures__/ask.ts'
import type { OwnServer } from './__fixtures__/own-server.ts'
import { sendEvents, startOwnServer } from './__fixtures__/own-server.ts'
import { subjects } from './__fixtures__/subjects.ts'

let own: OwnServer
beforeAll(async () => {
  own = await startOwnServer()
})
afterAll(() => own[Symbol.asyncDispose]())

describe.each(subjects)('$name', (subject) => {
  const { name, wire } = subject
  const hello = () => ask(modelAt(own.origin, subject), 'hello')

  test.each([
    ['application/json', 429, 'exhausted'],
    ['text/event-stream', 429, 'exhausted'],
    ['text/plain', 401, 'denied'],
    ['application/json', 503, 'unavailable'],
  ])('an error as JSON of type %s with status 200 is the error %i', async (type, code, kind) => {
    own.answer = (response) => {
      response.writeHead(200, { 'content-type': type })
      response.end(JSON.stringify({ error: { code, message: 'not today' } }))
    }
    const { outcome, error } = await hello()
    expect([outcome, error?.code]).toEqual(['failed', kind])
    if (kind !== 'denied') expect(error?.message).toMatch(new RegExp(`^${name} .*not today`))
  })

  test.each(['application/json', 'text/event-stream'])(
    'a whole answer as JSON of type %s is one, though a stream was asked for',
    async (type) => {
      own.answer = (response) => {
        response.writeHead(200, { 'content-type': type })
        response.end(JSON.stringify(wire.json('hi', 'w__weather', { city: 'Oslo' })))
      }
      expect(await hello()).toMatchObject({
        outcome: 'completed',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'tool-call', name: 'w__weather', arguments: { city: 'Oslo' } },
        ],
        usage: { inputTokens: 7, outputTokens: 3 },
      })
    },
  )

  test('a byte order mark before the stream is no part of it', async () => {
    own.answer = (response) => {
      const text = wire.begin + wire.openText + wire.text('hi') + wire.closeText
      sendEvents(response, `\uFEFF${text}${wire.end}`)
      response.end()
    }
    expect(await hello()).toMatchObject({ outcome: 'completed', content: [{ text: 'hi' }] })
  })
})
