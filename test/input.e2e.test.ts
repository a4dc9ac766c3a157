// Requests of MCP servers during tool calls reach the session, and the answers return.
import { join } from 'node:path'
import type { Down, SessionEvent, ToolCallId } from '@mcp-host/contracts'
import { callControl, newEnvelope } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

type Input = Extract<SessionEvent, { type: 'input' }>['payload']

const program = join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')
const asker = { command: process.execPath, args: [program], scope: 'session' }
const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]

let stack: Stack
let otherGateway: string
beforeAll(async () => {
  stack = await startStack({ tools, servers: { asker } })
  otherGateway = (await stack.add('gateway')).url
})
afterAll(() => stack[Symbol.asyncDispose]())

const requestedSchema = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' } },
  required: ['name'],
}

/** A message whose tool sends a server request, and whose answer is `done`. */
const turnThatAsks = (method: string, params: object): string =>
  script({ calls: [{ name: 'asker__ask', arguments: { method, params } }] }, { text: 'done' })
const elicits = turnThatAsks('elicitation/create', { message: 'Who are you?', requestedSchema })

const inputs = (chat: ChatSocket): Input[] =>
  chat.events.flatMap((event) => (event.type === 'input' ? [event.payload] : []))

async function question(chat: ChatSocket): Promise<string> {
  const required = (): Input | undefined => inputs(chat).find(({ state }) => state === 'required')
  return (await eventually(required, { what: 'the question' })).id
}

function answer(chat: ChatSocket, id: string, action: string, content?: object): void {
  chat.send({
    type: 'answer',
    payload: { id, action, ...(content === undefined ? {} : { content }) },
  })
}

/** The response to the server request, as the tool reports it. */
function toolResult(chat: ChatSocket): unknown {
  const results = chat.events.flatMap((event) =>
    event.type === 'tool' && event.payload.state === 'result' ? [event.payload] : [],
  )
  const text = results.at(-1)?.content[0]?.['text']
  return JSON.parse(typeof text === 'string' ? text : 'null')
}

function toolError(chat: ChatSocket): unknown {
  return chat.events.flatMap((event) =>
    event.type === 'tool' && event.payload.state === 'result' ? [event.payload.error] : [],
  )[0]
}

const errorFrame = (chat: ChatSocket): Promise<Down> => chat.waitFor(({ type }) => type === 'error')

describe('elicitations', () => {
  test('an elicitation is answered at another gateway, and both sockets see its end', async () => {
    using one = await ChatSocket.open(stack)
    using two = await ChatSocket.open({ url: otherGateway, sessionId: one.sessionId })
    one.say(elicits)
    const [id] = await Promise.all([question(two), question(one)])
    expect(inputs(two)).toMatchObject([
      { state: 'required', server: 'asker', tool: 'ask', message: 'Who are you?', mode: 'form' },
    ])
    expect(inputs(two)[0]).toMatchObject({ requestedSchema })
    answer(two, id, 'accept', { name: 'Ann', age: 7 })
    await Promise.all([one.turnsDone(), two.turnsDone()])
    expect(toolResult(one)).toEqual({ action: 'accept', content: { name: 'Ann', age: 7 } })
    expect(inputs(one)).toMatchObject([
      { state: 'required' },
      { id, state: 'answered', action: 'accept' },
    ])
    expect(two.events).toEqual(one.events)
    expect(two.frames).toContainEqual({
      type: 'accepted',
      payload: { messageId: id, duplicate: false },
    })
    expect(one.text).toBe('done')
  })

  test('an elicitation is a status for clients of the base shapes', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(elicits)
    const id = await question(chat)
    expect(chat.events).toContainEqual(
      expect.objectContaining({
        type: 'status',
        payload: {
          state: 'processing',
          tool: 'asker.ask',
          message: 'asker.ask waits for your answer: Who are you?',
        },
      }),
    )
    answer(chat, id, 'decline')
    await chat.turnsDone()
    expect(toolResult(chat)).toEqual({ action: 'decline' })
  })

  test('an elicitation is sent to sockets that join later, and once to one that reconnects', async () => {
    using one = await ChatSocket.open(stack)
    one.say(elicits)
    const id = await question(one)
    using late = await ChatSocket.open({ url: otherGateway, sessionId: one.sessionId })
    expect(await question(late)).toBe(id)
    using back = await ChatSocket.open({ ...stack, sessionId: one.sessionId, after: one.lastId })
    answer(late, id, 'cancel')
    await Promise.all([one.turnsDone(), back.turnsDone()])
    expect(inputs(back).map(({ state }) => state)).toEqual(['answered'])
    expect(toolResult(one)).toEqual({ action: 'cancel' })
  })

  test('an invalid answer is refused with its faults, and the elicitation stays open', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(elicits)
    const id = await question(chat)
    answer(chat, id, 'accept', { age: 'old' })
    expect(await errorFrame(chat)).toMatchObject({
      payload: {
        code: 'invalid',
        message: 'answer: name is needed; age must be a number',
        field: 'payload.content.name',
        messageId: id,
      },
    })
    answer(chat, id, 'accept', { name: 'Ann' })
    await chat.turnsDone()
    expect(toolResult(chat)).toEqual({ action: 'accept', content: { name: 'Ann' } })
  })

  test('an elicitation takes one answer', async () => {
    using one = await ChatSocket.open(stack)
    using two = await ChatSocket.open({ url: otherGateway, sessionId: one.sessionId })
    one.say(elicits)
    const id = await question(one)
    answer(one, id, 'accept', { name: 'Ann' })
    answer(two, id, 'accept', { name: 'Bob' })
    await one.turnsDone()
    const tabs = [one, two]
    const isReply = ({ type }: Down): boolean => type === 'error' || type === 'accepted'
    await eventually(() => tabs.every((tab) => tab.frames.filter(isReply).length >= 1))
    const isTaken = (frame: Down): boolean =>
      frame.type === 'accepted' && frame.payload.messageId === id
    expect(tabs.filter((tab) => tab.frames.some(isTaken))).toHaveLength(1)
    const winner = one.frames.some(isTaken) ? 'Ann' : 'Bob'
    expect(toolResult(one)).toEqual({ action: 'accept', content: { name: winner } })
    answer(one, id, 'decline')
    expect(await errorFrame(one)).toMatchObject({ payload: { code: 'not-found' } })
  })

  test('an elicitation ends when its call is cancelled', async () => {
    using chat = await ChatSocket.open(stack)
    chat.say(elicits)
    const id = await question(chat)
    const call = inputs(chat)[0]?.callId as ToolCallId
    const bus = await stack.broker.connect('orchestrator')
    const options = { envelope: newEnvelope('local'), timeoutMs: 5_000 }
    await bus.call(callControl, { call }, { action: 'cancel' }, options)
    await chat.turnsDone()
    expect(inputs(chat).map(({ state }) => state)).toEqual(['required', 'void'])
    expect(toolError(chat)).toMatchObject({ code: 'cancelled' })
    answer(chat, id, 'decline')
    expect(await errorFrame(chat)).toMatchObject({ payload: { code: 'not-found' } })
  })

  test('an elicitation outlives its gateway', async () => {
    using one = await ChatSocket.open(stack)
    one.say(elicits)
    const id = await question(one)
    await stack.kill('gateway')
    const { sessionId, lastId } = one
    using back = await ChatSocket.open({ url: otherGateway, sessionId, after: lastId })
    answer(back, id, 'accept', { name: 'Ann' })
    await back.turnsDone()
    expect(toolResult(back)).toEqual({ action: 'accept', content: { name: 'Ann' } })
    await stack.restart('gateway')
  })
})

test('a sampling request of a server is answered by the model', async () => {
  using chat = await ChatSocket.open(stack)
  const messages = [
    { role: 'user', content: { type: 'text', text: script({ text: 'forty-two and more' }) } },
  ]
  chat.say(turnThatAsks('sampling/createMessage', { messages, maxTokens: 1 }))
  await chat.turnsDone()
  expect(toolResult(chat)).toMatchObject({
    role: 'assistant',
    model: 'demo-1',
    content: { type: 'text', text: expect.stringMatching(/^forty/) },
    stopReason: 'maxTokens',
  })
})

test('an unsupported sampling request is answered with an error', async () => {
  using chat = await ChatSocket.open(stack)
  const content = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const messages = [{ role: 'user', content }]
  chat.say(turnThatAsks('sampling/createMessage', { messages, maxTokens: 1 }))
  await chat.turnsDone()
  expect(toolResult(chat)).toMatchObject({
    error: { message: expect.stringContaining('sampling: image is not supported') },
  })
})

test('an elicitation is void when its process has ended', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say(elicits)
  await question(chat)
  await stack.kill('mcp-supervisor')
  await chat.turnsDone()
  expect(inputs(chat).map(({ state }) => state)).toEqual(['required', 'void'])
  expect(chat.text).toBe('done')
  await stack.restart('mcp-supervisor')
})
