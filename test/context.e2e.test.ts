// Conversations and results that are too long for their model.
import type { SessionEvent } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, script, startStack } from '@mcp-host/testkit'
import { describe, expect, test } from 'vitest'

const schema = { type: 'object', properties: {} }
const LONG = 'the same words over and over '.repeat(80)

const compactions = (chat: ChatSocket): string[] =>
  chat.events.flatMap((event) => (event.type === 'context' ? [event.payload.how] : []))
const outcomes = (chat: ChatSocket): string[] =>
  chat.events.flatMap(({ type, payload }) =>
    type === 'turn' && payload.state === 'done' ? [payload.outcome] : [],
  )
const resets = (chat: ChatSocket): number =>
  chat.events.filter(({ type }) => type === 'reset').length

/** A conversation of several long turns with short answers. */
async function longConversation(stack: Stack, turns: number): Promise<ChatSocket> {
  const chat = await ChatSocket.open(stack)
  for (let turn = 0; turn < turns; turn++) {
    chat.say(`${LONG} ${turn}`)
    await chat.turnsDone(turn + 1)
  }
  return chat
}

describe('conversations that are too long for their model', () => {
  test('a conversation is summarised before it is too long, and clients are notified', async () => {
    await using stack = await startStack({ env: { DEMO_CONTEXT_TOKENS: '4000' } })
    using chat = await longConversation(stack, 8)
    expect(outcomes(chat)).toEqual(Array.from({ length: 8 }, () => 'completed'))
    expect(compactions(chat).length).toBeGreaterThan(0)
    expect(new Set(compactions(chat))).toEqual(new Set(['summarised']))
    // Fewer compactions than turns: each one invalidates the cache of the provider.
    expect(compactions(chat).length).toBeLessThan(5)
    expect(resets(chat)).toBe(0)
  })

  test('a conversation is shortened and retried after a context overflow', async () => {
    const env = { DEMO_CONTEXT_TOKENS: '3000', CONTEXT_TOKENS: '100000' }
    await using stack = await startStack({ env })
    using chat = await longConversation(stack, 6)
    expect(outcomes(chat)).toEqual(Array.from({ length: 6 }, () => 'completed'))
    expect(compactions(chat).length).toBeGreaterThan(0)
    expect(resets(chat)).toBeGreaterThan(0)
  })

  test('a message that is too long ends its turn with a reason', async () => {
    await using stack = await startStack({ env: { DEMO_CONTEXT_TOKENS: '2000' } })
    using chat = await ChatSocket.open(stack)
    chat.say(LONG.repeat(5))
    await chat.turnsDone()
    expect(outcomes(chat)).toEqual(['failed'])
    expect(chat.text).toContain('too long for the model')
  })
})

describe('tool results that are too long for their model', () => {
  const lastResult = (chat: ChatSocket): SessionEvent['payload'] | undefined =>
    chat.events.findLast(({ type, payload }) => type === 'tool' && payload.state === 'result')
      ?.payload

  test('the model reads and searches the rest of a long result, also in the object store', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index}`).join('\n')
    await using stack = await startStack({
      tools: [{ name: 'lines', inputSchema: schema, lines: 60_000 }],
    })
    using chat = await ChatSocket.open(stack)
    chat.say(script({ calls: [{ name: 'test__lines', arguments: {} }] }, { text: 'seen' }))
    await chat.turnsDone()
    expect(lastResult(chat)).toMatchObject({ outcome: 'ok', blob: { bytes: expect.any(Number) } })
    const call = chat.events.find(
      ({ type, payload }) => type === 'tool' && payload.state === 'call',
    )
    const callId = call?.type === 'tool' ? call.payload.callId : ''
    const offset = lines.indexOf('line 55555')
    const read = { name: 'result__read', arguments: { call: callId, offset, length: 200 } }
    chat.say(script({ calls: [read] }, { text: 'read' }))
    await chat.turnsDone(2)
    expect(lastResult(chat)).toMatchObject({
      server: 'result',
      tool: 'read',
      outcome: 'ok',
      content: [{ type: 'text', text: expect.stringContaining('line 55555\nline 55556') }],
    })
    const search = { name: 'result__search', arguments: { call: callId, text: 'LINE 59999' } }
    chat.say(script({ calls: [search] }, { text: 'found' }))
    await chat.turnsDone(3)
    expect(lastResult(chat)).toMatchObject({
      outcome: 'ok',
      content: [
        { type: 'text', text: expect.stringContaining(`[offset ${lines.indexOf('line 59999')}]`) },
      ],
    })
  })
})

test('a model finds tools beyond the offered ones, and may call only those', async () => {
  const tools = ['merge_requests', 'read_mail', 'send_mail'].map((name) => ({
    name,
    description: `Does ${name.replace('_', ' ')}.`,
    inputSchema: schema,
  }))
  await using stack = await startStack({ tools, env: { MAX_OFFERED_TOOLS: '2' } })
  using chat = await ChatSocket.open(stack)
  const calls = (name: string, args: object = {}) => ({ calls: [{ name, arguments: args }] })
  chat.say(
    script(
      calls('test__send_mail'),
      calls('find_tools', { query: 'merge requests' }),
      calls('test__merge_requests'),
      { text: 'done' },
    ),
  )
  await chat.turnsDone()
  expect(outcomes(chat)).toEqual(['completed'])
  expect((await stack.journal()).map(({ tool }) => tool)).toEqual(['merge_requests'])
})
