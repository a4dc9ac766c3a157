// A conversation that continues with another provider: each provider gets the whole content in its own
// format, without the metadata of other providers.
import type { ContentBlock, PromptMessage, ToolCallId } from '@mcp-host/contracts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask, modelAt } from './__fixtures__/ask.ts'
import type { OwnServer } from './__fixtures__/own-server.ts'
import { startOwnServer } from './__fixtures__/own-server.ts'
import { subjects } from './__fixtures__/subjects.ts'

const name = 'w__weather'
const call = (index: number): ToolCallId => `session-0-${index}` as ToolCallId
/** The id of the call in a request. */
const sentId = (index: number): string => `c0000000${index}`

/** A turn with reasoning, text and a call, each with provider metadata. */
function turnWith(
  index: number,
  signature: (kind: 'reasoning' | 'text' | 'call') => ContentBlock['providerMetadata'] & {},
): PromptMessage[] {
  const city = `City ${index}`
  return [
    { role: 'user', text: `question ${index}` },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: `thought ${index}`, providerMetadata: signature('reasoning') },
        { type: 'text', text: `words ${index}`, providerMetadata: signature('text') },
        {
          type: 'tool-call',
          id: call(index),
          name,
          arguments: { city },
          providerMetadata: signature('call'),
        },
      ],
    },
    {
      role: 'tool',
      answers: [{ call: call(index), name, text: `answer ${index}`, isError: false }],
    },
  ]
}

const conversation: PromptMessage[] = [
  ...turnWith(1, (kind) => ({ google: { thoughtSignature: `gemini-${kind}` } })),
  ...turnWith(2, (kind) =>
    kind === 'reasoning' ? { anthropic: { signature: 'claude-reasoning' } } : { anthropic: {} },
  ),
  ...turnWith(3, (kind) => ({
    openai: {
      itemId: `openai-${kind}`,
      ...(kind === 'reasoning' ? { reasoningEncryptedContent: 'openai-sealed' } : {}),
    },
  })),
  ...turnWith(4, (kind) => ({
    xai: {
      itemId: `grok-${kind}`,
      ...(kind === 'reasoning' ? { reasoningEncryptedContent: 'grok-sealed' } : {}),
    },
  })),
  { role: 'user', text: 'and now?' },
]

let own: OwnServer
beforeAll(async () => {
  own = await startOwnServer()
  own.answer = (response) => void response.writeHead(404).end()
})
afterAll(() => own[Symbol.asyncDispose]())
beforeEach(() => {
  own.received.length = 0
})

async function sentTo(provider: string): Promise<unknown> {
  const subject = subjects.find((each) => each.name === provider)
  if (subject === undefined) throw new Error(`no provider ${provider}`)
  await ask(modelAt(own.origin, subject), '', { messages: conversation })
  return own.received[0]?.body
}

test.each(subjects)('$name gets all texts, calls and results', async (subject) => {
  const sent = JSON.stringify(await sentTo(subject.name))
  for (const index of [1, 2, 3, 4]) {
    for (const part of [
      `question ${index}`,
      `words ${index}`,
      `City ${index}`,
      `answer ${index}`,
    ]) {
      expect(sent, part).toContain(part)
    }
  }
  expect(sent).toContain('and now?')
})

test.each(['gemini', 'anthropic', 'openai'])(
  '%s gets no empty message, and invalid arguments as an object',
  async (provider) => {
    const subject = subjects.find((each) => each.name === provider)
    if (subject === undefined) throw new Error('no such provider')
    const messages: PromptMessage[] = [
      { role: 'user', text: 'question' },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'of another' }] },
      { role: 'user', text: 'again' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: call(1), name, arguments: '{"city": broken' }],
      },
      { role: 'tool', answers: [{ call: call(1), name, text: 'no JSON', isError: true }] },
    ]
    await ask(modelAt(own.origin, subject), '', { messages })
    const sent = JSON.stringify(own.received[0]?.body)
    expect(sent).not.toMatch(/"(parts|content)":\[\]/)
    expect(sent).toMatch(/(args|input)":\{"rawInvalidInput"|\{\\"rawInvalidInput\\"/)
  },
)

/** Signatures and encrypted reasoning, which begin with their provider. */
const SEALED = /(gemini|claude|openai|grok)-(reasoning|text|call|sealed)/g

test.each([
  ['gemini', ['gemini-reasoning', 'gemini-text', 'gemini-call']],
  ['anthropic', ['claude-reasoning']],
  // Item ids are not sent: OpenAI stores nothing.
  ['openai', ['openai-reasoning', 'openai-sealed']],
  ['xai', ['grok-reasoning', 'grok-sealed', 'grok-text', 'grok-call']],
  ['openai-compatible', []],
])('%s gets only its own signatures and encrypted reasoning', async (provider, ownSeals) => {
  const sent = JSON.stringify(await sentTo(provider))
  expect(Array.from(sent.matchAll(SEALED), ([seal]) => seal).toSorted()).toEqual(
    ownSeals.toSorted(),
  )
  const thoughts = Array.from(sent.matchAll(/thought \d/g), ([thought]) => thought)
  expect(thoughts).toHaveLength(ownSeals.length === 0 ? 0 : 1)
})

const weather = (index: number) => ({ name, city: `City ${index}` })

test('Claude gets signed thinking, calls as tool_use, and results before the next message', async () => {
  const result = (index: number, next: string) => ({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: sentId(index), content: `answer ${index}` },
      { type: 'text', text: next },
    ],
  })
  const use = (index: number) => {
    const { city } = weather(index)
    return { type: 'tool_use', id: sentId(index), name, input: { city } }
  }
  const text = (index: number) => ({ type: 'text', text: `words ${index}` })
  const thought = { type: 'thinking', thinking: 'thought 2', signature: 'claude-reasoning' }
  expect(await sentTo('anthropic')).toMatchObject({
    max_tokens: expect.any(Number),
    cache_control: { type: 'ephemeral' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'question 1' }] },
      { role: 'assistant', content: [text(1), use(1)] },
      result(1, 'question 2'),
      { role: 'assistant', content: [thought, text(2), use(2)] },
      result(2, 'question 3'),
      { role: 'assistant', content: [text(3), use(3)] },
      result(3, 'question 4'),
      { role: 'assistant', content: [text(4), use(4)] },
      result(4, 'and now?'),
    ],
  })
})

test('OpenAI gets its encrypted reasoning and is told to store nothing', async () => {
  const message = (role: string, text: string) => ({ role, text })
  const turn = (index: number) => [
    {
      type: 'function_call',
      call_id: sentId(index),
      arguments: JSON.stringify({ city: weather(index).city }),
    },
    { type: 'function_call_output', call_id: sentId(index), output: `answer ${index}` },
  ]
  const reasoning = {
    type: 'reasoning',
    encrypted_content: 'openai-sealed',
    summary: [{ type: 'summary_text', text: 'thought 3' }],
  }
  const body = (await sentTo('openai')) as { input: { content?: unknown; role?: string }[] }
  expect(body).toMatchObject({ store: false })
  const input = body.input.map(({ role, content, ...rest }) => {
    if (role === undefined) return rest
    const [part] = Array.isArray(content)
      ? (content as { text: string }[])
      : [{ text: String(content) }]
    return message(role, part?.text ?? '')
  })
  expect(input).toMatchObject([
    message('user', 'question 1'),
    message('assistant', 'words 1'),
    ...turn(1),
    message('user', 'question 2'),
    message('assistant', 'words 2'),
    ...turn(2),
    message('user', 'question 3'),
    reasoning,
    message('assistant', 'words 3'),
    ...turn(3),
    message('user', 'question 4'),
    message('assistant', 'words 4'),
    ...turn(4),
    message('user', 'and now?'),
  ])
})
