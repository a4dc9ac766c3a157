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

/** The request that a model receives, and the parts that are read from its output. */
async function stream(
  output: readonly StreamPart[],
  request: ModelRequest,
): Promise<{ sent: ModelRequest | undefined; parts: StreamPart[] }> {
  let sent: ModelRequest | undefined
  const model: Model = {
    provider: 'test',
    model: 'plain',
    async *stream(received) {
      sent = received
      yield* output
    },
  }
  const signal = AbortSignal.any([])
  const parts = await Array.fromAsync(jsonToolModel(model).stream(request, { signal }))
  return { sent, parts }
}

const textDelta = (text: string): StreamPart => ({ type: 'text-delta', text })
const end: StreamPart = { type: 'end', usage: { inputTokens: 3 } }

test('tools are listed after the system prompt', async () => {
  const request = { system: 'be kind', messages: [], tools, maxTokens: 5 }
  const { sent } = await stream([end], request)
  expect(sent).toMatchObject({ tools: [], maxTokens: 5 })
  expect(sent?.system).toMatch(/^be kind\n\nYou can call tools\./)
  expect(sent?.system).toContain(
    '{"tool":"w__weather","description":"Tells it.","arguments":{"type":"object","properties":{"city":{"type":"string"}}}}',
  )
})

test('earlier calls and results are sent as text', async () => {
  const call = 's-1-0' as ToolCallId
  const block = { type: 'tool-call' as const, id: call, name: 'w__weather' }
  const answer = { call, name: 'w__weather', text: 'dry', isError: false }
  const { sent } = await stream([end], {
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
  expect(sent).toEqual({
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

test('calls are read from text, and other parts passed on', async () => {
  const thought: StreamPart = { type: 'reasoning-delta', text: '{"tool":"x"}' }
  const output = [thought, textDelta('I look. {"to'), textDelta('ol":"w__weather"} {"a'), end]
  const { parts } = await stream(output, { messages: [], tools })
  expect(parts).toEqual([
    thought,
    textDelta('I look. '),
    { type: 'tool-call', name: 'w__weather', arguments: '{}' },
    textDelta('{"a'),
    end,
  ])
})

test('text is not read as calls when no tools are offered', async () => {
  const text = textDelta('{"tool":"w__weather"}')
  const { parts } = await stream([text, end], { messages: [], tools: [] })
  expect(parts).toEqual([text, end])
})
