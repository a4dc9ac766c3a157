// A chat from the socket to the tool and back, with real processes.
import type { Stack, ToolScript } from '@mcp-host/testkit'
import { ChatSocket, runProgram, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** A random name. */
const word = (): string =>
  Array.from({ length: 7 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('')

const tool = { first: `${word()}_${word()}`, argument: word() }
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const tools: ToolScript[] = [
  {
    name: tool.first,
    description: 'Does something.',
    inputSchema: {
      type: 'object',
      properties: { [tool.argument]: { type: 'string' } },
      required: [tool.argument],
    },
    answer: 'it was done',
  },
  { name: 'slow', inputSchema: text, delayMs: 400 },
  { name: 'broken', inputSchema: text, answer: 'out of paper', isError: true },
  { name: 'huge', inputSchema: text, bytes: 700_000 },
]

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ tools, env: { MAX_TOOL_CALLS: '4', LLM_RETRY_MS: '50' } })
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('clients that know only the base shapes', () => {
  test('a client sees the demo model call a tool with a random name', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(`call ${tool.first} with ${tool.argument} Oslo`)
    await chat.turnsDone()
    const statuses = chat.events.filter((event) => event.type === 'status')
    const name = `test.${tool.first}`
    expect(chat.frames[0]).toMatchObject({
      type: 'connection',
      payload: { state: 'connected', sessionId: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
    expect(statuses).toContainEqual(
      expect.objectContaining({
        payload: expect.objectContaining({ state: 'processing', tool: name }),
      }),
    )
    expect(statuses).toContainEqual(
      expect.objectContaining({
        payload: expect.objectContaining({
          state: 'complete',
          tool: name,
          data: { content: [{ type: 'text', text: 'it was done' }], isError: false },
        }),
      }),
    )
    expect(chat.text).toContain('it was done')
    expect(await stack.journal()).toContainEqual({
      tool: tool.first,
      arguments: { [tool.argument]: 'Oslo' },
      pid: expect.any(Number),
    })
  })

  test('the welcome states that a demo model answers', async () => {
    using chat = await ChatSocket.open(stack)
    expect(chat.frames[0]?.type === 'connection' && chat.frames[0].payload.message).toMatch(
      /demo.*4 tools are ready, of 1 MCP server.*demonstration model/s,
    )
  })

  test('deltas join to the text in the log', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(script({ reasoning: 'because', tokens: 200, tokensPerSecond: 400 }))
    await chat.turnsDone()
    const expected = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ')
    expect(chat.text.trim()).toBe(expected)
    expect(chat.events.filter(({ type }) => type === 'text').length).toBeGreaterThan(5)
    expect(new Set(chat.events.map(({ id }) => id)).size).toBe(chat.events.length)
  })
})

describe('tools', () => {
  test('tool calls of one reply run concurrently', async () => {
    using chat = await ChatSocket.open(stack)
    const calls = ['a', 'b', 'c'].map((each) => ({
      name: 'test__slow',
      arguments: { text: each },
    }))
    chat.say(script({ calls }, { text: 'done' }))
    await chat.turnsDone()
    const states = chat.events
      .filter((event) => event.type === 'tool')
      .map(({ payload }) => payload.state)
    expect(states).toEqual(['call', 'call', 'call', 'result', 'result', 'result'])
    const first = chat.events.find(
      (event) => event.type === 'tool' && event.payload.state === 'result',
    )
    expect(first?.type === 'tool' && first.payload).toMatchObject({ outcome: 'ok' })
    expect(chat.text).toBe('done')
  })

  test('calls of unknown tools and with invalid arguments do not reach a server', async () => {
    using chat = await ChatSocket.open(stack)
    const before = await stack.journal()
    chat.say(
      script(
        {
          calls: [
            { name: 'test__imagined', arguments: {} },
            { name: 'test__slow', arguments: { text: [7] } },
            { name: 'test__slow', arguments: '{"text": broken' },
          ],
        },
        { text: 'sorry' },
      ),
    )
    await chat.turnsDone()
    const results = chat.events
      .filter((event) => event.type === 'tool')
      .map(({ payload }) => payload)
      .filter((payload) => payload.state === 'result')
    const summaries = results.map(({ outcome, error, content }) => [
      outcome,
      error?.message ?? content[0]?.['text'],
    ])
    expect(summaries).toHaveLength(3)
    expect(summaries).toContainEqual(['error', expect.stringContaining('text')])
    expect(summaries).toContainEqual(['refused', expect.stringContaining('must be a JSON object')])
    expect(summaries).toContainEqual([
      'refused',
      expect.stringContaining('there is no tool "test__imagined"'),
    ])
    expect(chat.text).toBe('sorry')
    expect(await stack.journal()).toEqual(before)
  })

  test('failed tools are reported as tool errors, and the turn continues', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(
      script({ calls: [{ name: 'test__broken', arguments: { text: 'x' } }] }, { text: 'ok' }),
    )
    await chat.turnsDone()
    expect(chat.events).toContainEqual(
      expect.objectContaining({
        type: 'status',
        payload: expect.objectContaining({
          state: 'complete',
          message: 'Tool error: test.broken: out of paper. The answer goes on without its result.',
        }),
      }),
    )
    expect(chat.text).toBe('ok')
  })

  test('a result that is too large for the log is shown as an excerpt, and can be read whole', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(script({ calls: [{ name: 'test__huge', arguments: { text: 'x' } }] }, { text: 'ok' }))
    await chat.turnsDone()
    const result = chat.events.find(
      (event) => event.type === 'tool' && event.payload.state === 'result',
    )
    const payload = result?.type === 'tool' && result.payload.state === 'result' && result.payload
    if (payload === undefined || payload === false) throw new Error('no result')
    expect(payload).toMatchObject({ outcome: 'ok', blob: { bytes: expect.any(Number) } })
    expect(payload.content).toEqual([
      { type: 'text', text: 'x'.repeat(65_536) },
      { type: 'text', text: expect.stringMatching(/first 65536 of 700000 characters/) },
    ])
    const file = `/api/chat/session/${chat.sessionId}/file/${payload.blob?.key}`
    const whole = await fetch(stack.url + file)
    const content = [{ type: 'text', text: 'x'.repeat(700_000) }]
    expect(await whole.json()).toEqual({ content })
    expect(chat.text).toBe('ok')
  })

  test('tool calls beyond the limit of a turn are refused, and the model must answer', async () => {
    using chat = await ChatSocket.open(stack)
    const call = { name: `test__${tool.first}`, arguments: { [tool.argument]: 'x' } }
    chat.say(script({ calls: [call, call, call] }, { calls: [call, call] }, { text: 'enough' }))
    await chat.turnsDone()
    const outcomes = chat.events
      .filter((event) => event.type === 'tool')
      .map(({ payload }) => (payload.state === 'result' ? payload.outcome : ''))
      .filter((outcome) => outcome !== '')
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(4)
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(1)
    expect(chat.text).toBe('enough')
  })
})

describe('turns', () => {
  test('a turn uses the model that its message names', async () => {
    using chat = await ChatSocket.open(stack)
    const send = (words: string, model: string): void =>
      chat.send({ type: 'message', payload: { text: words, model } })
    send(script({ text: 'it is me' }), 'demo')
    send('hello', 'parrot/grey')
    await chat.turnsDone(2)
    expect(chat.text).toMatch(/^it is me/)
    expect(chat.text).toMatch(/there is no provider "parrot"; there are .*demo\. Your message/)
  })

  test('a turn whose model fails ends with the reason, and the next one completes', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(script({ tokens: 10, error: { afterTokens: 3, message: 'the model tripped' } }))
    chat.say(script({ text: 'fine' }))
    await chat.turnsDone(2)
    const outcomes = chat.events.filter(
      (event) => event.type === 'turn' && event.payload.state === 'done',
    )
    expect(outcomes.map(({ payload }) => payload)).toMatchObject([
      { outcome: 'failed' },
      { outcome: 'completed' },
    ])
    expect(chat.text).toContain('fine')
  })

  test('a turn waits for the one before it', async () => {
    using chat = await ChatSocket.open(stack)
    for (const each of ['a', 'b', 'c']) chat.say(script({ text: each, tokensPerSecond: 50 }), each)
    await chat.turnsDone(3)
    const turns = chat.events
      .filter((event) => event.type === 'turn')
      .map(({ payload }) => (payload.state === 'started' ? payload.messageId : 'done'))
    expect(turns).toEqual(['a', 'done', 'b', 'done', 'c', 'done'])
    expect(chat.text).toBe('abc')
  })

  test('a message that is sent twice has one turn', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(script({ text: 'once' }), 'same')
    chat.say(script({ text: 'once' }), 'same')
    await chat.turnsDone()
    chat.say(script({ text: ' more' }), 'other')
    await chat.turnsDone(2)
    expect(chat.text).toBe('once more')
    const accepted = chat.frames.filter((frame) => frame.type === 'accepted')
    expect(accepted.map(({ payload }) => payload.duplicate)).toEqual([false, true, false])
  })
})

test('two sessions that use the same message id both keep their messages', async () => {
  using one = await ChatSocket.open(stack)
  using other = await ChatSocket.open(stack)
  one.say(script({ text: 'for one' }), 'm1')
  other.say(script({ text: 'for the other' }), 'm1')
  await Promise.all([one.turnsDone(), other.turnsDone()])
  expect([one.text, other.text]).toEqual(['for one', 'for the other'])
})

test('every service has metrics of its work', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(`call ${tool.first} with ${tool.argument} Rome`)
  await chat.turnsDone()
  const metrics = await Promise.all(
    (['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const).map(async (name) => {
      const response = await fetch(`${stack.urlOf(name)}/metrics`)
      return response.text()
    }),
  )
  const [gateway, orchestrator, supervisor, worker] = metrics
  expect(gateway).toMatch(/mcp_host_first_text_seconds_count\{[^}]*\} [1-9]/)
  expect(gateway).toMatch(/mcp_host_sockets_connected\{[^}]*\} [1-9]/)
  expect(orchestrator).toMatch(/mcp_host_turns_total\{outcome="completed"[^}]*\} [1-9]/)
  expect(supervisor).toMatch(/mcp_host_tool_calls_total\{server="test",outcome="ok"[^}]*\} [1-9]/)
  const ofTool = 'server="test",tool="[^"]+"'
  expect(supervisor).toMatch(
    new RegExp(`mcp_host_server_requests_total\\{${ofTool},outcome="success"[^}]*\\} [1-9]`),
  )
  expect(supervisor).toMatch(
    new RegExp(`mcp_host_server_request_seconds_count\\{${ofTool}[^}]*\\} [1-9]`),
  )
  expect(worker).toMatch(/mcp_host_generations_total\{provider="demo"[^}]*outcome="completed"/)
})

const good = script({ text: 'fine' })
const failing = script({ error: { afterTokens: 0, message: 'the model tripped' } })
test.each([
  ['0 after answers to all of its input', [good, good], 0],
  ['1 after a failed answer', [failing, good], 1],
  ['1 after a refused message', ['x'.repeat(1_000_000), good], 1],
])('npm run chat exits with %s', async (_, lines, code) => {
  const chat = ['chat', '--url', stack.url]
  await using program = await runProgram(chat, {}, lines.map((line) => `${line}\n`).join(''))
  expect(await program.ended()).toEqual({ code, signal: null })
  expect(program.output()).toContain('fine')
})
