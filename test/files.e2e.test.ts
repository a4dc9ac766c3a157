// Images and documents of users and tools, sent to the model and downloaded again.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as bodyOf } from 'node:stream/consumers'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, startStack, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

/** An image that is too large for the log. */
const LARGE = 700_000
const screenshot = {
  name: 'screenshot',
  inputSchema: { type: 'object' },
  answer: 'here',
  pictureBytes: LARGE,
}

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** Requests that the model received. */
let requests: Request[]
/** Answers of the model, in order: a text, or `undefined` for a call of the tool. */
let answers: (string | undefined)[]
const provider = createServer((request, response) => {
  // The list of models.
  if (request.method === 'GET') {
    response.writeHead(404).end()
    return
  }
  void bodyOf(request).then((body) => {
    requests.push(JSON.parse(body) as Request)
    const content = answers.shift()
    const call = {
      index: 0,
      id: 'c1',
      type: 'function',
      function: { name: 'test__screenshot', arguments: '{}' },
    }
    const delta = content === undefined ? { tool_calls: [call] } : { content }
    const finish_reason = content === undefined ? 'tool_calls' : 'stop'
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of [{ delta }, { delta: {}, finish_reason }]) {
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  })
})

let stack: Stack
let open: AsyncDisposable
beforeAll(async () => {
  await using resources = new AsyncDisposableStack()
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  const folder = resources.use(await testFolder())
  const file = join(folder.path, 'llm.json')
  const seeing = { type: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1` }
  await writeFile(file, JSON.stringify({ default: 'seeing/m', providers: { seeing } }))
  stack = resources.use(await startStack({ tools: [screenshot], env: { LLM_CONFIG: file } }))
  open = resources.move()
})
afterAll(async () => {
  await open[Symbol.asyncDispose]()
  provider.closeAllConnections()
  provider.close()
})
beforeEach(() => {
  requests = []
  answers = []
})

const at = (session: string, path: string): string =>
  `${stack.url}/api/chat/session/${session}/${path}`
const url = (bytes: Uint8Array): string =>
  `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`

async function store(
  session: string,
  bytes: Uint8Array,
  type: string,
  name: string,
): Promise<string> {
  const response = await fetch(at(session, `file?name=${name}`), {
    method: 'POST',
    headers: { 'content-type': type },
    body: Uint8Array.from(bytes),
  })
  expect(response.status).toBe(201)
  return ((await response.json()) as { key: string }).key
}

async function fileOf(session: string, key: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(at(session, `file/${key}`))).arrayBuffer())
}

test('an image and a text file of the user reach the model in each turn, and can be downloaded', async () => {
  answers = ['a cat', 'still a cat']
  using chat = await ChatSocket.open(stack)
  const { sessionId } = chat
  const picture = Buffer.alloc(2_000_000, 3)
  const attachments = [
    await store(sessionId, picture, 'image/png', 'cat.png'),
    await store(sessionId, Buffer.from('it is a cat'), 'text/plain', 'hint.txt'),
  ]
  chat.send({ type: 'message', payload: { text: 'what is this?', attachments } })
  await chat.turnsDone()
  const shown = [
    { type: 'text', text: 'what is this?' },
    { type: 'image_url', image_url: { url: url(picture) } },
    { type: 'text', text: 'File hint.txt (text/plain):\nit is a cat' },
  ]
  expect(requests[0]?.messages.at(-1)).toMatchObject({ role: 'user', content: shown })
  chat.send({ type: 'message', payload: { text: 'sure?' } })
  await chat.turnsDone(2)
  expect(requests[1]?.messages).toContainEqual(expect.objectContaining({ content: shown }))
  const response = await fetch(at(sessionId, 'messages'))
  const { messages } = (await response.json()) as {
    messages: { metadata: { attachments?: { name: string; blob: { key: string } }[] } }[]
  }
  const [cat] = messages[0]?.metadata.attachments ?? []
  expect(cat?.name).toBe('cat.png')
  expect(picture.equals(await fileOf(sessionId, cat?.blob.key ?? ''))).toBe(true)
})

test('a large image of a tool reaches the model, and can be downloaded', async () => {
  answers = [undefined, 'I see']
  using chat = await ChatSocket.open(stack)
  chat.send({ type: 'message', payload: { text: 'show me' } })
  await chat.turnsDone()
  const picture = Buffer.alloc(LARGE, 7)
  const [tool, user] = requests[1]?.messages.slice(-2) ?? []
  expect(tool).toMatchObject({ role: 'tool', content: expect.stringContaining('here') })
  expect(user).toMatchObject({ role: 'user', content: [{}, { image_url: { url: url(picture) } }] })
  const ended = chat.events.find((event) => JSON.stringify(event).includes('"stored"'))
  const key = /"key":"([^"]+)"/.exec(JSON.stringify(ended))?.[1] ?? ''
  expect(picture.equals(await fileOf(chat.sessionId, key))).toBe(true)
})

test('a picture without words reaches the model, without an empty text', async () => {
  answers = ['a cat']
  using chat = await ChatSocket.open(stack)
  const picture = Buffer.alloc(2_000, 3)
  const key = await store(chat.sessionId, picture, 'image/png', 'cat.png')
  chat.send({ type: 'message', payload: { text: '', attachments: [key] } })
  await chat.turnsDone()
  expect(requests[0]?.messages.at(-1)).toEqual({
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: url(picture) } }],
  })
})

test('a message with an unknown file is refused with the reason', async () => {
  using chat = await ChatSocket.open(stack)
  const key = `${chat.sessionId}.${crypto.randomUUID()}`
  chat.send({ type: 'message', payload: { text: 'look', id: 'm', attachments: [key] } })
  const error = await chat.waitFor(({ type }) => type === 'error')
  expect(error).toMatchObject({
    payload: {
      code: 'invalid',
      field: 'payload.attachments',
      message: expect.stringContaining('store it again'),
    },
  })
})
