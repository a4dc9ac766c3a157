// Servers that copy OpenAI's chat completions loosely, over real HTTP.
import type { ServerResponse } from 'node:http'
import type { PromptMessage, ToolCallId } from '@mcp-host/contracts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask, modelAt } from '../../models/__fixtures__/ask.ts'
import type { OwnServer } from '../../models/__fixtures__/own-server.ts'
import { sendEvents, startOwnServer } from '../../models/__fixtures__/own-server.ts'
import { subjects } from '../../models/__fixtures__/subjects.ts'

const subject = subjects.find(({ name }) => name === 'openai-compatible') as (typeof subjects)[0]
const weather = { safeName: 'w__weather', server: 'w', tool: 'weather' }
const tools = [{ ...weather, inputSchema: { type: 'object' } }]

let own: OwnServer
beforeAll(async () => {
  own = await startOwnServer()
})
afterAll(() => own[Symbol.asyncDispose]())
beforeEach(() => {
  own.received.length = 0
})

const send = (response: ServerResponse, ...events: unknown[]): void => {
  for (const event of events) sendEvents(response, `data: ${JSON.stringify(event)}\n\n`)
  response.end('data: [DONE]\n\n')
}
const piece = (delta: unknown, finish_reason: unknown = null, more: object = {}): object => ({
  id: 'c1',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const reply = (...events: unknown[]) => {
  own.answer = (response) => send(response, ...events)
  return ask(modelAt(own.origin, subject), 'hello', { tools })
}
const call = (fields: object) => ({ tool_calls: [fields] })

test.each<[string, unknown[]]>([
  [
    'an empty name first',
    [
      piece(call({ index: 0, id: 'a', function: { name: '', arguments: '{"city":' } })),
      piece(call({ index: 0, function: { name: 'w__weather', arguments: '"Oslo"}' } })),
    ],
  ],
  [
    'its name late',
    [
      piece(call({ index: 0, id: 'a', function: { arguments: '' } })),
      piece(call({ index: 0, function: { name: 'w__weather', arguments: '{"city":"Oslo"}' } })),
    ],
  ],
  [
    'no function in a piece',
    [
      piece(call({ index: 0, id: 'a', function: { name: 'w__weather', arguments: '' } })),
      piece(call({ index: 0 })),
      piece(call({ index: 0, function: { arguments: '{"city":"Oslo"}' } })),
    ],
  ],
  [
    'its arguments as an object',
    [
      piece(
        call({ index: 0, id: 'a', function: { name: 'w__weather', arguments: { city: 'Oslo' } } }),
      ),
    ],
  ],
  [
    'its arguments as a JSON string',
    [
      piece(
        call({
          index: 0,
          id: 'a',
          function: { name: 'w__weather', arguments: '"{\\"city\\":\\"Oslo\\"}"' },
        }),
      ),
    ],
  ],
  [
    'a number as its id, and a text as its index',
    [
      piece(
        call({ index: '0', id: 7, function: { name: 'w__weather', arguments: '{"city":"Oslo"}' } }),
      ),
    ],
  ],
  [
    'its arguments before its id and name',
    [
      piece(call({ index: 0, function: { arguments: '{"ci' } })),
      piece(call({ index: 0, id: 'a', function: { arguments: 'ty":' } })),
      piece(call({ index: 0, function: { name: 'w__weather', arguments: '"Oslo"}' } })),
    ],
  ],
  [
    'its arguments before its name, and an id instead of an index',
    [
      piece(call({ id: 'a', function: { arguments: '{"city":' } })),
      piece(call({ id: 'a', function: { name: 'w__weather', arguments: '"Oslo"}' } })),
    ],
  ],
  [
    'its arguments before its name, and neither id nor index',
    [
      piece(call({ function: { arguments: '{"city":' } })),
      piece(call({ function: { arguments: '"Oslo"}' } })),
      piece(call({ id: 'a', function: { name: 'w__weather' } })),
    ],
  ],
  [
    'its name and id last',
    [
      piece(call({ index: 0, function: { arguments: '{"city":"Oslo"}' } })),
      piece(call({ index: 0, function: { name: 'w__weather' } })),
      piece(call({ index: 0, id: 'a' })),
    ],
  ],
  [
    'an id alone first, and no index later',
    [
      piece(call({ index: 0, id: 'a' })),
      piece(call({ function: { name: 'w__weather' } })),
      piece(call({ function: { arguments: '{"city":"Oslo"}' } })),
    ],
  ],
  [
    'one call instead of a list',
    [
      piece({
        tool_calls: { id: 'a', function: { name: 'w__weather', arguments: '{"city":"Oslo"}' } },
      }),
    ],
  ],
])('a call with %s runs with its whole arguments', async (_, events) => {
  const { outcome, content } = await reply(...events, piece({}, 'tool_calls'))
  expect(outcome).toBe('completed')
  expect(content).toMatchObject([
    { type: 'tool-call', name: 'w__weather', arguments: { city: 'Oslo' } },
  ])
})

const named = { name: 'w__weather' }
const oslo = { name: 'w__weather', arguments: { city: 'Oslo' } }
const rome = { name: 'w__weather', arguments: { city: 'Rome' } }

test.each<[string, object[]]>([
  [
    'parts that alternate',
    [
      call({ index: 0, id: 'a', function: { ...named, arguments: '' } }),
      call({ index: 1, id: 'b', function: { ...named, arguments: '{"ci' } }),
      call({ index: 0, function: { arguments: '{"city":' } }),
      call({ index: 1, function: { arguments: 'ty":"Rome"}' } }),
      call({ index: 0, function: { arguments: '"Oslo"}' } }),
    ],
  ],
  [
    'the last one first',
    [
      call({ index: 1, id: 'b', function: { ...named, arguments: '{"city":"Rome"}' } }),
      call({ index: 0, id: 'a', function: { ...named, arguments: '{"city":"Oslo"}' } }),
    ],
  ],
  [
    'ids instead of indexes',
    [
      call({ id: 'a', function: { ...named, arguments: '{"city":' } }),
      call({ id: 'b', function: { ...named, arguments: '{"city":"Rome"}' } }),
      call({ id: 'a', function: { arguments: '"Oslo"}' } }),
    ],
  ],
  [
    'arguments first, and ids instead of indexes',
    [
      call({ id: 'a', function: { arguments: '{"city":' } }),
      call({ id: 'b', function: { arguments: '{"city":"Rome"}' } }),
      call({ id: 'b', function: named }),
      call({ id: 'a', function: { ...named, arguments: '"Oslo"}' } }),
    ],
  ],
  [
    'arguments first, in any order',
    [
      call({ index: 1, function: { arguments: '{"city":"Rome"}' } }),
      call({ index: 0, function: { arguments: '{"city":' } }),
      call({ index: 1, id: 'b', function: named }),
      call({ index: 0, function: { arguments: '"Oslo"}' } }),
      call({ index: 0, id: 'a', function: named }),
    ],
  ],
  [
    'neither ids nor indexes, each whole',
    [
      call({ function: { ...named, arguments: '{"city":"Oslo"}' } }),
      call({ function: { ...named, arguments: '{"city":"Rome"}' } }),
    ],
  ],
  [
    'one index for all, and ids',
    [
      call({ index: 0, id: 'a', function: { ...named, arguments: '{"city":"Oslo"}' } }),
      call({ index: 0, id: 'b', function: { ...named, arguments: '{"city":"Rome"}' } }),
    ],
  ],
])('two calls with %s run with their whole arguments', async (_, deltas) => {
  const { outcome, content } = await reply(...deltas.map((each) => piece(each)), piece({}, 'stop'))
  expect(outcome).toBe('completed')
  expect(content).toHaveLength(2)
  expect(content).toEqual(
    expect.arrayContaining([oslo, rome].map((each) => expect.objectContaining(each))),
  )
})

test('several objects in the arguments of one call are several calls', async () => {
  const json = '{"city":"Oslo"}{"city":"Rome"}'
  const { content } = await reply(
    piece(call({ index: 0, id: 'a', function: { name: 'w__weather', arguments: json } })),
    piece({}, 'tool_calls'),
  )
  expect(content).toMatchObject([{ arguments: { city: 'Oslo' } }, { arguments: { city: 'Rome' } }])
})

test.each<[string, unknown]>([
  ['an event without choices', { type: 'progress', done: 0.5 }],
  [
    'an event with findings of a filter alone',
    { choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
  ],
  ['an event that is no object', 'hello'],
  ['a role of another name', piece({ role: 'model', content: '' })],
  ['a delta that is no object', piece('x')],
  ['no delta', piece(null)],
  ['reasoning as an object', piece({ reasoning: { text: 'x' } })],
  ['content as a number', piece({ content: 5 })],
  ['an empty finish reason', piece({}, '')],
  ['a usage of another form', piece({}, null, { usage: { prompt_tokens: 'many' } })],
])('%s does not end an answer', async (_, event) => {
  const result = await reply(event, piece({ content: 'whole' }), event, piece({}, 'stop'), event)
  expect(result).toMatchObject({ outcome: 'completed', content: [{ text: 'whole' }] })
})

test('a usage without choices is counted', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3 }
  expect(await reply(piece({ content: 'x' }), piece({}, 'stop'), { usage })).toMatchObject({
    usage: { inputTokens: 7, outputTokens: 3 },
  })
})

test.each([
  ['stream_options', { error: { message: "Unknown parameter: 'stream_options'." } }],
  [
    'stream_options',
    { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
  ],
])('the field %s is taken back after %j, also from later requests', async (field, refusal) => {
  own.answer = (response, { body }) => {
    if (field in (body as object)) {
      response.writeHead(422, { 'content-type': 'application/json' })
      response.end(JSON.stringify(refusal))
    } else send(response, piece({ content: 'fine' }), piece({}, 'stop'))
  }
  const model = modelAt(own.origin, subject)
  for (const requests of [2, 3]) {
    expect(await ask(model, 'hello')).toMatchObject({ outcome: 'completed' })
    expect(own.received).toHaveLength(requests)
  }
})

test('a refusal that names no optional field is reported as it is', async () => {
  own.answer = (response) =>
    void response.writeHead(400).end('{"error":{"message":"no such thing"}}')
  const { error } = await ask(modelAt(own.origin, subject), 'hello')
  expect(error).toMatchObject({ message: 'openai-compatible answered 400: no such thing' })
  expect(own.received).toHaveLength(1)
})

test('reasoning goes back to a server that asks for it, also in later requests', async () => {
  own.answer = (response, { body }) => {
    if (!JSON.stringify(body).includes('"reasoning_content":"hm"')) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(
        '{"error":{"message":"Missing `reasoning_content` field in the assistant message"}}',
      )
    } else send(response, piece({ content: 'fine' }), piece({}, 'stop'))
  }
  const model = modelAt(own.origin, subject)
  const messages: PromptMessage[] = [
    { role: 'user', text: 'a' },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'yes' },
      ],
    },
    { role: 'user', text: 'b' },
  ]
  for (const requests of [2, 3]) {
    expect(await ask(model, '', { messages })).toMatchObject({ outcome: 'completed' })
    expect(own.received).toHaveLength(requests)
  }
})

test('a model whose template wants turns gets an answer between a result and the next message', async () => {
  const isAlternating = (messages: { role: string }[]): boolean =>
    messages.every(({ role }, index) => role !== 'user' || messages[index - 1]?.role !== 'tool')
  own.answer = (response, { body }) => {
    if (isAlternating((body as { messages: { role: string }[] }).messages)) {
      return send(response, piece({ content: 'fine' }), piece({}, 'stop'))
    }
    response.writeHead(400, { 'content-type': 'application/json' })
    const message = "Unexpected role 'user' after role 'tool'"
    response.end(JSON.stringify({ object: 'error', message, code: '3230' }))
  }
  const callId = 'session-0-0' as ToolCallId
  const { outcome } = await ask(modelAt(own.origin, subject), '', {
    messages: [
      { role: 'user', text: 'a' },
      { role: 'assistant', content: [{ type: 'tool-call', id: callId, name: 't', arguments: {} }] },
      { role: 'tool', answers: [{ call: callId, name: 't', text: 'done', isError: false }] },
      { role: 'user', text: 'b' },
    ],
  })
  expect([outcome, own.received.length]).toEqual(['completed', 2])
})
