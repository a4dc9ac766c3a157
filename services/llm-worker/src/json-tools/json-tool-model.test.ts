import type { ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import type { Model, ModelRequest, StreamPart } from '../model.ts'
import { jsonToolModel } from './json-tool-model.ts'

const tools = [
  {
    safeName: 'w__weather',
    server: 'w',
    tool: 'weather',
    description: 'Tells it.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  },
]

/** What a model that writes this is asked, and what is read in it. */
async function stream(
  written: readonly StreamPart[],
  request: ModelRequest,
): Promise<{ asked: ModelRequest | undefined; parts: StreamPart[] }> {
  let asked: ModelRequest | undefined
  const model: Model = {
    provider: 'test',
    model: 'plain',
    async *stream(given) {
      asked = given
      yield* written
    },
  }
  const signal = AbortSignal.any([])
  const parts = await Array.fromAsync(jsonToolModel(model).stream(request, { signal }))
  return { asked, parts }
}

const said = (text: string): StreamPart => ({ type: 'text-delta', text })
const end: StreamPart = { type: 'end', usage: { inputTokens: 3 } }

test('the tools are listed in the prompt, after the system prompt', async () => {
  const request = { system: 'be kind', messages: [], tools, maxTokens: 5 }
  const { asked } = await stream([end], request)
  expect(asked).toMatchObject({ tools: [], maxTokens: 5 })
  expect(asked?.system).toMatch(/^be kind\n\nYou can call tools\./)
  expect(asked?.system).toContain(
    '{"tool":"w__weather","description":"Tells it.","arguments":{"type":"object","properties":{"city":{"type":"string"}}}}',
  )
})

test('earlier calls and their results are told in words', async () => {
  const call = 's-1-0' as ToolCallId
  const block = { type: 'tool-call' as const, id: call, name: 'w__weather' }
  const answer = { call, name: 'w__weather', text: 'dry', isError: false }
  const { asked } = await stream([end], {
    tools: [],
    messages: [
      { role: 'user', text: 'rain?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { ...block, arguments: { city: 'Oslo' } },
        ],
      },
      { role: 'tool', answers: [answer, { ...answer, text: 'no such city', isError: true }] },
    ],
  })
  expect(asked).toEqual({
    tools: [],
    messages: [
      { role: 'user', text: 'rain?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'text', text: '\n{"tool":"w__weather","arguments":{"city":"Oslo"}}\n' },
        ],
      },
      {
        role: 'user',
        text: 'Result of the tool w__weather:\ndry\n\nThe tool w__weather failed:\nno such city',
      },
    ],
  })
})

test('calls in the text are calls, and all else goes through', async () => {
  const thought: StreamPart = { type: 'reasoning-delta', text: '{"tool":"x"}' }
  const written = [thought, said('I look. {"to'), said('ol":"w__weather"} {"a'), end]
  const { parts } = await stream(written, { messages: [], tools })
  expect(parts).toEqual([
    thought,
    said('I look. '),
    { type: 'tool-call', name: 'w__weather', arguments: '{}' },
    said('{"a'),
    end,
  ])
})

test('without tools nothing is read as a call', async () => {
  const text = said('{"tool":"w__weather"}')
  const { parts } = await stream([text, end], { messages: [], tools: [] })
  expect(parts).toEqual([text, end])
})
