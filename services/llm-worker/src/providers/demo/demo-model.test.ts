import type { PromptMessage, ToolAnswer, ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import type { ModelRequest, StreamPart } from '../../model.ts'
import { offeredTool, recordedTools } from './__fixtures__/offered-tools.ts'
import { demoModel } from './demo-model.ts'
import { fakeClock } from './__fixtures__/fake-clock.ts'

const signal = AbortSignal.any([])
const HINT = 'Set a key.'

function build(tokensPerSecond = 0, clock = fakeClock(), scripted = false) {
  return demoModel(
    { clock },
    { tokensPerSecond, scripted, contextTokens: 32_768, realModelHint: HINT },
  )
}

async function reply(request: Partial<ModelRequest>, model = build()): Promise<StreamPart[]> {
  const full = { messages: [], tools: recordedTools(), ...request }
  return Array.fromAsync(model.stream(full, { signal }))
}

function joined(parts: readonly StreamPart[], type: 'text-delta' | 'reasoning-delta'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('')
}

function user(text: string): PromptMessage {
  return { role: 'user', text }
}

/** The messages of one call and its answer, as the next generation sees them. */
function answered(name: string, text: string, isError = false): PromptMessage[] {
  const id = `call-${name}` as ToolCallId
  const answer: ToolAnswer = { call: id, name, text, isError }
  return [
    { role: 'assistant', content: [{ type: 'tool-call', id, name, arguments: {} }] },
    { role: 'tool', answers: [answer] },
  ]
}

test('it says what it is', () => {
  const { provider, model, notice } = build()
  expect({ provider, model }).toEqual({ provider: 'demo', model: 'demo-1' })
  expect(notice).toMatch(/demonstration model.*really runs your tools\. Set a key\.$/)
})

test('it refuses a conversation that is longer than its context', async () => {
  const model = demoModel(
    { clock: fakeClock() },
    { tokensPerSecond: 0, scripted: false, contextTokens: 100, realModelHint: HINT },
  )
  expect(model.contextWindow).toBe(100)
  const ask = (length: number) => reply({ messages: [user('x'.repeat(length))], tools: [] }, model)
  expect((await ask(400)).at(-1)?.type).toBe('end')
  await expect(ask(401)).rejects.toMatchObject({ code: 'invalid', reason: 'context-overflow' })
})

test('it says why it chose a tool, then calls it, then ends', async () => {
  const parts = await reply({ messages: [user('list the directory examples/files')] })
  const reasoning = joined(parts, 'reasoning-delta')
  expect(reasoning).toContain('list_directory')
  expect(reasoning).toContain('“list_directory”')
  expect(reasoning).toContain('path = "examples/files"')
  expect(parts.slice(-3)).toEqual([
    { type: 'block-end' },
    {
      type: 'tool-call',
      name: 'filesystem__list_directory',
      arguments: '{"path":"examples/files"}',
    },
    { type: 'end', usage: expect.anything() },
  ])
  expect(parts.filter(({ type }) => type === 'reasoning-delta').length).toBeGreaterThan(5)
})

test('it shows the whole answer of the tool and ends', async () => {
  const listing = '[FILE] a.txt\n[DIR] sub\n[FILE] ünï.md'
  const parts = await reply({
    messages: [user('list the directory x/y'), ...answered('filesystem__list_directory', listing)],
  })
  expect(joined(parts, 'text-delta')).toBe(listing)
  expect(parts.some(({ type }) => type === 'tool-call')).toBe(false)
  expect(parts.at(-1)?.type).toBe('end')
})

test.each([
  ['[image image/png]', 'picture'],
  ['[audio audio/wav]', 'audio file'],
  ['[resource application/pdf x://out.pdf]', 'file'],
  ['[resource_link name: report, uri: file:///report.pdf]', 'link to a file'],
])(
  'the part %s of a result is said to be in it as a part of this kind: %s',
  async (line, named) => {
    const result = ["Here's the image:", line, 'It is the logo.'].join('\n')
    const parts = await reply({
      messages: [user('get tiny image'), ...answered('everything__get-tiny-image', result)],
    })
    expect(joined(parts, 'text-delta')).toBe(
      `Here's the image:\nThe ${named} is in the result above.\nIt is the logo.`,
    )
  },
)

test('a very long answer is cut and says by how much', async () => {
  const parts = await reply({ messages: [user('echo a'), ...answered('e', 'x'.repeat(5000))] })
  expect(joined(parts, 'text-delta')).toBe(`${'x'.repeat(4000)}… (1000 more characters)`)
})

test('an error is told in plain words, with its message', async () => {
  const parts = await reply({
    messages: [user('echo a'), ...answered('everything__echo', 'ENOENT: gone', true)],
  })
  expect(joined(parts, 'text-delta')).toBe('The tool echo failed. It says: ENOENT: gone')
})

test('a call that was not run is told without the advice to the model', async () => {
  const why = 'not run: the user did not allow this call. Do not try it again.'
  const parts = await reply({
    messages: [user('echo a'), ...answered('everything__echo', why, true)],
  })
  const text = 'The tool echo was not run: the user did not allow this call.'
  expect(joined(parts, 'text-delta')).toBe(text)
})

test('two steps run one after another, and the text tells their results apart', async () => {
  const messages = [user('echo hello then get sum of 2 and 3')]
  expect((await reply({ messages })).at(-2)).toMatchObject({ name: 'everything__echo' })
  messages.push(...answered('everything__echo', 'hello'))
  expect((await reply({ messages })).at(-2)).toMatchObject({
    name: 'everything__get-sum',
    arguments: '{"a":2,"b":3}',
  })
  messages.push(...answered('everything__get-sum', '5'))
  expect(joined(await reply({ messages }), 'text-delta')).toBe(
    '“echo hello” – echo:\nhello\n\n“get sum of 2 and 3” – get-sum:\n5',
  )
})

test('a step that no tool fits is said so, and the others are done', async () => {
  const messages = [user('dance a waltz then echo b'), ...answered('everything__echo', 'b')]
  const text = joined(await reply({ messages }), 'text-delta')
  expect(text).toContain('“echo b” – echo:\nb')
  expect(text).toContain('For “dance a waltz” I found no tool of that name.')
})

test('only what came after the last user message counts', async () => {
  const messages = [user('echo a'), ...answered('everything__echo', 'a'), user('echo b')]
  expect((await reply({ messages })).at(-2)).toMatchObject({ arguments: '{"message":"b"}' })
})

test('answers are shown even when no tools are offered any more', async () => {
  const messages = [user('echo a'), ...answered('everything__echo', 'the answer')]
  expect(joined(await reply({ messages, tools: [] }), 'text-delta')).toContain('the answer')
})

test('without the name of a tool it says what it is, what there is, and how to ask', async () => {
  const text = joined(await reply({ messages: [user('tell me a joke')] }), 'text-delta')
  expect(text).toContain('demo model')
  expect(text).toContain('read_file, read_text_file')
  expect(text).toContain('and 19 more')
  expect(text).toMatch(/for example: “call \w+ with \w+=something”/)
})

test('it greets, and says what it is and which tools of which servers it runs', async () => {
  for (const said of ['Hello!', 'hi there', 'What can you do?', 'help']) {
    const parts = await reply({ messages: [user(said)] })
    const text = joined(parts, 'text-delta')
    expect(text).toMatch(/^Hello! I am the built-in demo model, not a real language model\./)
    expect(text).toContain('- **filesystem**: read_file, read_text_file')
    expect(text).toContain('- **everything**: echo, ')
    expect(parts.some(({ type }) => type === 'tool-call')).toBe(false)
  }
  expect(joined(await reply({ messages: [user('hello')], tools: [] }), 'text-delta')).toContain(
    'No tools are offered',
  )
})

test('a greeting before a request does not hide the request', async () => {
  const parts = await reply({ messages: [user('hello, echo a')] })
  expect(parts.at(-2)).toMatchObject({ name: 'everything__echo' })
})

test('the example it gives works', async () => {
  const text = joined(await reply({ messages: [user('tell me a joke')] }), 'text-delta')
  const example = /for example: “(.*?)”/.exec(text)?.[1] ?? ''
  const parts = await reply({ messages: [user(example)] })
  expect(parts.at(-2)?.type).toBe('tool-call')
})

test('files are told with name, type and size, and the first line of text', async () => {
  const file = (name: string, mimeType: string, content: string) => ({
    name,
    mimeType,
    data: Buffer.from(content).toString('base64'),
  })
  const media = [file('ä.txt', 'text/plain', 'ünï\r\ntwo'), file('a.png', 'image/png', 'abc')]
  const told =
    'I got the file ä.txt (text/plain, 10 bytes). Its first line is: “ünï”\n\n' +
    'I got the file a.png (image/png, 3 bytes). I cannot look into it.\n\n'
  const messages: PromptMessage[] = [{ role: 'user', text: 'echo a', media }]
  expect((await reply({ messages })).at(-2)).toMatchObject({ name: 'everything__echo' })
  messages.push(...answered('everything__echo', 'the answer'))
  expect(joined(await reply({ messages }), 'text-delta')).toBe(`${told}the answer`)
  for (const text of ['', 'hello', 'tell me a joke']) {
    const parts = await reply({ messages: [{ role: 'user', text, media }] })
    expect(joined(parts, 'text-delta')).toContain(`${told}${text === 'hello' ? 'Hello!' : 'I am'}`)
  }
})

test('without any tools it says so', async () => {
  const text = joined(await reply({ messages: [user('echo a')], tools: [] }), 'text-delta')
  expect(text).toContain('No tools are offered')
})

test('a tool called by name without what it needs is asked for', async () => {
  const tools = [offeredTool('zqxv_plork', { frobnak: { type: 'number' } })]
  const text = joined(await reply({ messages: [user('run zqxv_plork')], tools }), 'text-delta')
  expect(text).toContain('zqxv_plork needs frobnak')
  expect(text).toContain('call zqxv_plork with frobnak=7')
})

test('text is written at the set speed', async () => {
  const clock = fakeClock()
  const started = clock.now()
  const parts = await reply({ messages: [user('hello')], tools: [] }, build(100, clock))
  const words = parts.filter(({ type }) => type.endsWith('-delta')).length
  // Reasoning and text each begin at once.
  expect(clock.now() - started).toBe((words - 2) * 10)
})

test('an abort stops it at once, with the reason', async () => {
  const controller = new AbortController()
  const onDelay = (index: number) => (index === 3 ? controller.abort('stop') : undefined)
  const stream = build(50, fakeClock({ onDelay })).stream(
    { messages: [user('echo a')], tools: recordedTools() },
    { signal: controller.signal },
  )
  const seen: StreamPart[] = []
  const run = async () => {
    for await (const part of stream) seen.push(part)
  }
  await expect(run()).rejects.toBe('stop')
  expect(seen).toHaveLength(4)
})

test('a signal that is already aborted lets nothing out', async () => {
  const stream = build().stream(
    { messages: [user('echo a')], tools: recordedTools() },
    { signal: AbortSignal.abort('stop') },
  )
  await expect(Array.fromAsync(stream)).rejects.toBe('stop')
})

test('usage is a token per four characters, rounded up', async () => {
  const parts = await reply({ system: 'abcd', messages: [user('hello')], tools: [] })
  const reasoning = joined(parts, 'reasoning-delta').length
  const text = joined(parts, 'text-delta').length
  expect(parts.at(-1)).toEqual({
    type: 'end',
    usage: {
      inputTokens: 3,
      outputTokens: Math.ceil((reasoning + text) / 4),
      reasoningTokens: Math.ceil(reasoning / 4),
    },
  })
})
