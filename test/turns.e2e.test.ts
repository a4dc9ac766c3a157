// Actions of users on turns: cancel, queue, withdraw, approve, replace.
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Down } from '@mcp-host/contracts'
import type { Stack, ToolScript } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const text = { type: 'object', properties: { text: { type: 'string' } } }
const tools: ToolScript[] = [
  { name: 'echo', inputSchema: text },
  { name: 'endless', inputSchema: text, delayMs: 100_000 },
  { name: 'slow', inputSchema: text, delayMs: 1_000 },
  { name: 'danger', inputSchema: text },
]
const APPROVAL_TIMEOUT_MS = 3_000
const long = script({ tokens: 2_000, tokensPerSecond: 100 })
const calls = (name: string, argument = name): string =>
  script(
    { calls: [{ name: `test__${name}`, arguments: { text: argument } }] },
    { text: 'after it' },
  )

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    tools,
    env: {
      TOOL_APPROVAL: 'test.danger',
      APPROVAL_TIMEOUT_MS: String(APPROVAL_TIMEOUT_MS),
      LLM_RETRIES: '1',
      LLM_RETRY_MS: '50',
    },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

const outcomes = (chat: ChatSocket): string[] =>
  chat.events.flatMap(({ type, payload }) =>
    type === 'turn' && payload.state === 'done' ? [payload.outcome] : [],
  )
const results = (chat: ChatSocket): string[] =>
  chat.events.flatMap(({ type, payload }) =>
    type === 'tool' && payload.state === 'result' ? [`${payload.tool} ${payload.outcome}`] : [],
  )
const isCall = (frame: Down): boolean => frame.type === 'tool' && frame.payload.state === 'call'
const isText = (frame: Down): boolean => frame.type === 'text'
const cancel = (chat: ChatSocket, messageId?: string): void =>
  chat.send({ type: 'cancel', payload: messageId === undefined ? {} : { messageId } })
const cancelCall = (chat: ChatSocket, callId: string): void =>
  chat.send({ type: 'cancel-call', payload: { callId } })
const isAccepted = (frame: Down, id: string, duplicate: boolean): boolean =>
  frame.type === 'accepted' &&
  frame.payload.messageId === id &&
  frame.payload.duplicate === duplicate
/** The ids of the first calls of a tool, once they are made. */
async function idsOfCalls(chat: ChatSocket, tool: string, count: number): Promise<string[]> {
  return eventually(() => {
    const ids = chat.events.flatMap(({ type, payload }) =>
      type === 'tool' && payload.state === 'call' && payload.tool === tool ? [payload.callId] : [],
    )
    return ids.length >= count && ids
  })
}
async function idOfCall(chat: ChatSocket, tool: string): Promise<string> {
  const [id = ''] = await idsOfCalls(chat, tool, 1)
  return id
}
/** The calls that the server got with this text. */
async function journalOf(argument: string): Promise<object[]> {
  const all = await stack.journal()
  return all.filter(({ arguments: given }) => JSON.stringify(given).includes(argument))
}

describe('cancelled turns', () => {
  test('a turn that is cancelled while its model writes keeps its text for the next turn', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(long, 'm1')
    await chat.waitFor(isText)
    cancel(chat, 'm1')
    await chat.turnsDone()
    expect(outcomes(chat)).toEqual(['cancelled'])
    expect(chat.frames).toContainEqual({
      type: 'accepted',
      payload: { messageId: 'm1', duplicate: false },
    })
    const before = chat.text.length
    expect(before).toBeLessThan(5_000)
    chat.say(script({ text: 'still here' }))
    await chat.turnsDone(2)
    expect(outcomes(chat)).toEqual(['cancelled', 'completed'])
    expect(chat.text.slice(before)).toBe('still here')
  })

  test('a turn that is cancelled while a tool runs cancels the call and no other', async () => {
    using chat = await ChatSocket.open(stack)
    using other = await ChatSocket.open(stack)
    other.say(calls('slow', 'of the other'))
    chat.say(calls('endless'))
    await chat.waitFor(isCall)
    await eventually(async () => (await stack.journal()).some(({ tool }) => tool === 'endless'))
    cancel(chat)
    await chat.turnsDone()
    expect(outcomes(chat)).toEqual(['cancelled'])
    expect(results(chat)).toEqual(['endless cancelled'])
    await other.turnsDone()
    expect(results(other)).toEqual(['slow ok'])
    chat.say(calls('echo'))
    await chat.turnsDone(2)
    expect(results(chat)).toContain('echo ok')
    const journal = await stack.journal()
    expect(new Set(journal.map(({ pid }) => pid)).size).toBe(1)
  })

  test('a turn is not cancelled when its clients leave', async () => {
    const chat = await ChatSocket.open(stack)
    chat.say(script({ tokens: 60, tokensPerSecond: 60 }))
    await chat.waitFor(isText)
    const { sessionId, lastId } = chat
    chat[Symbol.dispose]()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    using back = await ChatSocket.open({ ...stack, sessionId, after: lastId })
    await back.turnsDone()
    expect(outcomes(back)).toEqual(['completed'])
  })
})

describe('queued messages', () => {
  const queues = (chat: ChatSocket): string[] =>
    chat.frames.flatMap((frame) =>
      frame.type === 'queue'
        ? [
            frame.payload.messages
              .map(({ messageId, position }) => `${position}:${messageId}`)
              .join(' '),
          ]
        : [],
    )

  test('queued messages are kept in order, sent to all sockets, and can be withdrawn', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(long, 'first')
    await chat.waitFor(isText)
    chat.say(script({ text: 'two' }), 'second')
    chat.say(script({ text: 'three' }), 'third')
    await eventually(() => queues(chat).at(-1) === '1:second 2:third')
    using tab = await ChatSocket.open({ ...stack, sessionId: chat.sessionId })
    await eventually(() => queues(tab).at(-1) === '1:second 2:third')
    cancel(tab, 'second')
    await eventually(() => queues(chat).at(-1) === '1:third')
    cancel(chat, 'first')
    await chat.turnsDone(3)
    expect(outcomes(chat)).toEqual(['cancelled', 'cancelled', 'completed'])
    expect(chat.text.endsWith('three')).toBe(true)
    expect(chat.text).not.toContain('two')
    await eventually(() => queues(chat).at(-1) === '')
  })
})

describe('approvals', () => {
  async function approvalRequest(chat: ChatSocket): Promise<string> {
    const frame = await chat.waitFor(
      ({ type, payload }: Down & { payload?: { state?: unknown } }) =>
        type === 'input' && payload?.state === 'required',
    )
    return frame.type === 'input' ? frame.payload.id : ''
  }
  const answer = (chat: ChatSocket, id: string, action: string): void =>
    chat.send({ type: 'answer', payload: { id, action } })

  test('a call runs after the approval of the first of two clients', async () => {
    using chat = await ChatSocket.open(stack)
    using tab = await ChatSocket.open({ ...stack, sessionId: chat.sessionId })
    chat.say(calls('danger', 'allowed'))
    const id = await approvalRequest(tab)
    expect(chat.events).toContainEqual(
      expect.objectContaining({
        type: 'input',
        payload: expect.objectContaining({
          kind: 'approval',
          mode: 'approval',
          server: 'test',
          tool: 'danger',
          arguments: { text: 'allowed' },
        }),
      }),
    )
    await chat.waitFor((frame) => frame.type === 'turn' && frame.payload.state === 'waiting')
    answer(tab, id, 'accept')
    await tab.waitFor((frame) => frame.type === 'accepted' && frame.payload.messageId === id)
    answer(chat, id, 'decline')
    await chat.waitFor((frame) => frame.type === 'error' && frame.payload.code === 'not-found')
    await chat.turnsDone()
    expect(results(chat)).toEqual(['danger ok'])
    const runs = (await stack.journal()).filter((call) => call.tool === 'danger')
    expect(runs.map((call) => call.arguments)).toContainEqual({ text: 'allowed' })
  })

  test('a declined call does not run, and the model continues without it', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('danger', 'declined'))
    answer(chat, await approvalRequest(chat), 'decline')
    await chat.turnsDone()
    expect(results(chat)).toEqual(['danger refused'])
    expect(chat.text).toBe('after it')
    expect(JSON.stringify(await stack.journal())).not.toContain('declined')
  })

  test('a call without an approval in time does not run', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('danger', 'too late'))
    await approvalRequest(chat)
    await chat.turnsDone()
    expect(results(chat)).toEqual(['danger refused'])
    expect(chat.events).toContainEqual(
      expect.objectContaining({
        type: 'input',
        payload: expect.objectContaining({ state: 'expired' }),
      }),
    )
    expect(JSON.stringify(await stack.journal())).not.toContain('too late')
  })

  test('an approval ends when its turn is cancelled', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('danger', 'given up'))
    await approvalRequest(chat)
    await chat.waitFor((frame) => frame.type === 'turn' && frame.payload.state === 'waiting')
    cancel(chat)
    await chat.turnsDone()
    expect(outcomes(chat)).toEqual(['cancelled'])
    expect(results(chat)).toEqual(['danger cancelled'])
  })

  test('an approval outlives its orchestrator, and its call runs once', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('danger', 'over a restart'))
    const id = await approvalRequest(chat)
    await stack.kill('orchestrator')
    await stack.restart('orchestrator')
    answer(chat, id, 'accept')
    await chat.turnsDone()
    // On a busy machine the wait may exceed its limit.
    const isLate = results(chat)[0] === 'danger refused'
    const runs = JSON.stringify(await stack.journal()).split('over a restart').length - 1
    expect(runs).toBe(isLate ? 0 : 1)
  })
})

describe('a call that its user stops alone', () => {
  test('the call ends and is told to the model, and its turn goes on with the other calls', async () => {
    using chat = await ChatSocket.open(stack)
    const asked = ['endless', 'endless', 'echo'].map((name) => ({
      name: `test__${name}`,
      arguments: { text: 'one is stopped' },
    }))
    chat.say(script({ calls: asked }, { text: 'after it' }))
    await eventually(() => results(chat).includes('echo ok'))
    await eventually(async () => (await journalOf('one is stopped')).length === 3)
    const [callId = '', otherId = ''] = await idsOfCalls(chat, 'endless', 2)
    cancelCall(chat, callId)
    cancelCall(chat, callId)
    // The other endless call keeps the turn running until both requests are answered.
    await chat.waitFor((frame) => isAccepted(frame, callId, true))
    cancelCall(chat, otherId)
    await chat.turnsDone()
    expect(results(chat)).toEqual(['echo ok', 'endless cancelled', 'endless cancelled'])
    expect(outcomes(chat)).toEqual(['completed'])
    expect(chat.text).toBe('after it')
    expect(JSON.stringify(chat.events)).toContain('stopped: the user stopped this call alone')
    // Its turn is over.
    cancelCall(chat, callId)
    expect(await chat.waitFor(({ type }) => type === 'error')).toMatchObject({
      payload: { code: 'not-found', field: 'payload.callId', messageId: callId },
    })
  })

  test('a call that waits for an approval is not run', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('danger', 'stopped before'))
    await chat.waitFor((frame) => frame.type === 'turn' && frame.payload.state === 'waiting')
    cancelCall(chat, await idOfCall(chat, 'danger'))
    await chat.turnsDone()
    expect(results(chat)).toEqual(['danger cancelled'])
    expect(outcomes(chat)).toEqual(['completed'])
    expect(await journalOf('stopped before')).toEqual([])
    // Not when the time for the approval is over.
    const ends = chat.events.flatMap(({ type, payload }) => (type === 'input' ? payload.state : []))
    expect(ends).toEqual(['required', 'void'])
  })

  test('a call is stopped although its orchestrator and its supervisor are killed', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(calls('endless', 'of the killed'))
    const callId = await idOfCall(chat, 'endless')
    await eventually(async () => (await journalOf('of the killed')).length === 1)
    await Promise.all([stack.kill('orchestrator'), stack.kill('mcp-supervisor')])
    cancelCall(chat, callId)
    await chat.waitFor((frame) => isAccepted(frame, callId, false))
    await Promise.all([stack.restart('orchestrator'), stack.restart('mcp-supervisor')])
    await chat.turnsDone()
    expect(results(chat)).toEqual(['endless cancelled'])
    expect(outcomes(chat)).toEqual(['completed'])
    expect(await journalOf('of the killed')).toHaveLength(1)
  })
})

test('in maintenance a running turn goes on and new messages are refused, until it is taken back', async () => {
  const program = join(import.meta.dirname, '..', 'tools', 'maintenance.ts')
  const command = async (...args: string[]): Promise<string> => {
    const all = [program, ...args, '--nats', stack.broker.url]
    const { stdout } = await promisify(execFile)(process.execPath, all, {
      cwd: dirname(stack.mcpJson),
      env: { ...process.env, ...stack.broker.env },
    })
    return stdout
  }
  using chat = await ChatSocket.open(stack)
  expect(await command('status')).toBe('There is no maintenance.\n')
  chat.say(script({ text: 'one two three four five six seven', tokensPerSecond: 2 }))
  await chat.waitFor(isText)
  await command('begin', 'Back', 'at 5 pm')
  expect(await command('status')).toMatch(/^Maintenance since 2\S+ by local: Back at 5 pm\n$/)
  const health = async (): Promise<unknown> => (await fetch(`${stack.url}/health`)).json()
  expect(await health()).toMatchObject({ maintenance: { notice: 'Back at 5 pm' } })
  chat.say('and now?', 'm2')
  const refused = await chat.waitFor(({ type }) => type === 'error')
  expect(refused).toMatchObject({
    payload: {
      messageId: 'm2',
      code: 'unavailable',
      message: expect.stringMatching(/maintenance.*: Back at 5 pm$/),
    },
  })
  await chat.turnsDone()
  expect(outcomes(chat)).toEqual(['completed'])
  await command('end')
  expect(await health()).not.toHaveProperty('maintenance')
  chat.say(script({ text: 'here' }), 'm2')
  await chat.turnsDone(2)
  expect(outcomes(chat)).toEqual(['completed', 'completed'])
})

test('a failed model is retried before the user gets the reason', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(script({ tokens: 3, error: { afterTokens: 3, message: 'overloaded' } }))
  await chat.turnsDone()
  expect(outcomes(chat)).toEqual(['failed'])
  expect(chat.events.filter(({ type }) => type === 'reset')).toHaveLength(1)
  expect(chat.text).toMatch(/I could not answer this: .*overloaded/s)
})

test('a stopping orchestrator hands over its turns without a reset', async () => {
  await stack.add('orchestrator')
  using chat = await ChatSocket.open(stack)
  const session = chat
  session.say(script({ tokens: 150, tokensPerSecond: 60 }))
  await chat.waitFor(isText)
  const pid = stack.pids()['orchestrator'] ?? 0
  process.kill(pid, 'SIGTERM')
  await chat.turnsDone()
  await stack.restart('orchestrator')
  expect(outcomes(chat)).toEqual(['completed'])
  expect(chat.events.filter(({ type }) => type === 'reset')).toEqual([])
  expect(chat.text.trim().split(' ')).toHaveLength(150)
})

describe('replaced messages', () => {
  test('a replaced message begins a branch without the replaced turn', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(script({ text: 'one' }), 'm1')
    await chat.turnsDone()
    chat.say(script({ text: 'two' }), 'm2')
    await chat.turnsDone(2)
    chat.send({
      type: 'message',
      payload: { text: script({ text: 'other two' }), id: 'm2b', replaces: 'm2' },
    })
    await chat.turnsDone(3)
    chat.send({ type: 'regenerate', payload: { messageId: 'm2b', id: 'm2c' } })
    await chat.turnsDone(4)
    expect(chat.text).toBe('onetwoother twoother two')
    const history = await fetch(`${stack.url}/api/chat/session/${chat.sessionId}/messages`)
    const { messages } = (await history.json()) as {
      messages: { id: string; role: string; content?: string; metadata: { branches?: string[] } }[]
    }
    const users = messages.filter(({ role }) => role === 'user')
    expect(users.map(({ id }) => id)).toEqual(['m1', 'm2c'])
    expect(users[1]?.metadata.branches).toEqual(['m2', 'm2b', 'm2c'])
    expect(
      messages.filter(({ role }) => role === 'assistant').map(({ content }) => content),
    ).toEqual(['one', 'other two'])
  })

  test('a message that replaces an unknown one is refused', async () => {
    using chat = await ChatSocket.open(stack)
    chat.send({ type: 'message', payload: { text: 'x', replaces: 'nothing' } })
    expect(await chat.waitFor((frame) => frame.type === 'error')).toMatchObject({
      payload: { code: 'not-found', field: 'payload.replaces' },
    })
  })
})
