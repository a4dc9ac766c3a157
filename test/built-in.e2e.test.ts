// The built-in servers at every entrance: models, files and the web as tools.
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script, startStack, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const FILE_TOOLS = ['fs_info', 'fs_list', 'fs_read', 'fs_search', 'fs_write']
const WEB_TOOLS = ['web_fetch', 'web_search']
const PAGES = new Map([
  ['page', { type: 'text/html', body: '<title>Tea</title><h1>Tea</h1><a href="/milk">milk</a>' }],
  [
    'search',
    {
      type: 'application/json',
      body: JSON.stringify({
        results: [{ title: 'Tea', url: 'https://tea.example/', content: 'x' }],
      }),
    },
  ],
])
const LLM_TOOLS = ['llm_chat', 'llm_consensus', 'llm_parallel']
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The number of requests for answers by the first part of their paths. */
const requests = new Map<string, number>()
const cleanup = new AsyncDisposableStack()
let stack: Stack
/** The address of the providers of models, with some pages. */
let origin: string
/** The root of the files. */
let documents: string
let legacy: Client
let modern: ModernClient

beforeAll(async () => {
  const provider = createServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/')
    if (request.method === 'GET') {
      const found = PAGES.get(name.split('?', 1)[0] ?? '')
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': found?.type ?? '' })
      response.end(found?.body)
      return
    }
    request.resume().on('end', () => {
      requests.set(name, (requests.get(name) ?? 0) + 1)
      if (name === 'hanging') return
      const delta = { content: name === 'one' ? 'it is *4*' : 'It is 4!' }
      const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
      const parts = [
        { id: 'c', choices: [{ index: 0, delta }] },
        { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
      ]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const part of parts) response.write(`data: ${JSON.stringify(part)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  cleanup.defer(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const { port } = provider.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
  const search = { provider: 'searxng', url: origin }
  const providerAt = (name: string): object => {
    const baseUrl = `${origin}/${name}/v1`
    return { type: 'openai-compatible', baseUrl, models: { a: {}, b: {} } }
  }
  const folder = cleanup.use(await testFolder())
  documents = join(folder.path, 'documents')
  await mkdir(documents)
  await writeFile(join(documents, 'tea.txt'), 'Darjeeling')
  await writeFile(join(documents, 'private.txt'), 'nobody reads this')
  await symlink(folder.path, join(documents, 'out'))
  const models = join(folder.path, 'llm.json')
  const policy = join(folder.path, 'policy.json')
  const providers = {
    one: providerAt('one'),
    two: providerAt('two'),
    hanging: providerAt('hanging'),
  }
  await writeFile(models, JSON.stringify({ fallback: ['demo'], providers }))
  const rules = [
    { effect: 'deny', server: 'llm', tool: 'llm_list_models' },
    { effect: 'deny', resource: 'file://*/private*' },
  ]
  await writeFile(policy, JSON.stringify({ default: 'allow', rules }))
  stack = cleanup.use(
    await startStack({
      servers: {
        llm: { ...NO_PROGRAM, builtIn: 'llm' },
        web: { ...NO_PROGRAM, builtIn: 'web', allowedOrigins: [origin], search },
        files: { ...NO_PROGRAM, builtIn: 'files', roots: [documents], writable: true },
      },
      toolCount: 12,
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      env: { LLM_CONFIG: models, LLM_PROVIDER: 'demo', POLICY_CONFIG: policy },
    }),
  )
  await stack.add('mcp-supervisor')
  const address = new URL(`${stack.url}/mcp`)
  legacy = new Client({ name: 'test', version: '1.0.0' })
  await legacy.connect(new StreamableHTTPClientTransport(address))
  cleanup.defer(() => legacy.close())
  const versionNegotiation = { mode: 'auto' as const }
  modern = new ModernClient({ name: 'test', version: '1.0.0' }, { versionNegotiation })
  await modern.connect(new ModernTransport(address))
  cleanup.defer(() => modern.close())
}, 120_000)
afterAll(() => cleanup.disposeAsync())

const NO_PROGRAM = { command: undefined, args: undefined, env: undefined }
const QUESTION = script({ text: 'It is 4.' })
const THREE = ['demo', 'one/a', 'two/a']

test('the tools are listed under their own names, except for those that the policy denies', async () => {
  for (const { tools } of [await legacy.listTools(), await modern.listTools()]) {
    const names = tools.map(({ name }) => name).filter((name) => name !== 'test__echo')
    expect(names.toSorted()).toEqual([...FILE_TOOLS, ...LLM_TOOLS, ...WEB_TOOLS])
  }
  const name = 'llm_list_models'
  await expect(legacy.callTool({ name })).rejects.toThrow(name)
  await expect(modern.callTool({ name })).rejects.toThrow(name)
})

test.each([['legacy'], ['modern']])('a %s client finds a consensus, with progress', async (era) => {
  for (const models of [THREE, [...THREE, 'one/b', 'two/b']]) {
    const reports: object[] = []
    const onprogress = (report: object): void => void reports.push(report)
    const given = { name: 'llm_consensus', arguments: { models, prompt: QUESTION } }
    const { structuredContent } =
      era === 'legacy'
        ? await legacy.callTool(given, undefined, { onprogress })
        : await modern.callTool(given, { onprogress })
    expect(structuredContent).toMatchObject({
      agreementCount: models.length,
      totalModels: models.length,
      allResponses: models.map((model) => ({ model, agrees: true })),
    })
    await eventually(() => reports.length === models.length)
    expect(reports).toContainEqual(expect.objectContaining({ message: 'one/a has answered' }))
  }
})

test('a model that is named has no other one in its place', async () => {
  const given = { model: 'three/a', prompt: QUESTION }
  const { content, isError } = await legacy.callTool({ name: 'llm_chat', arguments: given })
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain('one, two')
})

test('so do a request over REST and a program over stdio', async () => {
  const given = { name: 'llm_chat', arguments: { model: 'two/b', prompt: QUESTION } }
  const response = await fetch(`${stack.url}/mcp/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(given),
  })
  expect(await response.text()).toContain('It is 4!')
  const client = new Client({ name: 'test', version: '1.0.0' })
  const args = [join(ROOT, 'tools/stdio.ts'), '--url', stack.url]
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  const { structuredContent } = await client.callTool(given)
  expect(structuredContent).toMatchObject({ model: 'two/b', response: 'It is 4!' })
  await client.close()
})

test('a chat asks other models, and the turn counts their tokens', async () => {
  using chat = await ChatSocket.open({ url: stack.url })
  const given = { models: ['one/a', 'two/a'], prompt: 'How much?' }
  const calls = [{ name: 'llm__llm_parallel', arguments: given }]
  chat.send({ type: 'message', payload: { text: script({ calls }, { text: 'done' }) } })
  await chat.turnsDone()
  const frames = JSON.stringify(chat.frames)
  expect(frames).toContain('It is 4!')
  expect(frames).toContain('"provider":"two"')
})

test('a call that is cancelled ends the requests to the models', async () => {
  const cancel = new AbortController()
  const given = { models: ['hanging/a', 'hanging/b'], prompt: QUESTION }
  const called = modern.callTool(
    { name: 'llm_parallel', arguments: given },
    { signal: cancel.signal },
  )
  called.catch(() => undefined)
  await eventually(() => requests.get('hanging') === 2)
  cancel.abort()
  await expect(called).rejects.toThrow()
  const url = stack.urlOf('llm-worker')
  await eventually(async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const ended = /generations_total\{provider="hanging".*outcome="cancelled".*\} 1/g
    return metrics.match(ended)?.length === 2
  })
})

test('files are read and written below their roots, and nowhere else', async () => {
  const run = async (name: string, given: object): Promise<string> => {
    const { content } = await legacy.callTool({ name, arguments: { ...given } })
    return JSON.stringify(content)
  }
  expect(await run('fs_read', { path: 'documents/tea.txt' })).toContain('Darjeeling')
  expect(await run('fs_read', { path: 'documents/out/policy.json' })).toContain('symbolic link')
  expect(await run('fs_read', { path: '../policy.json' })).not.toContain('rules')
  const path = 'documents/new/coffee.txt'
  await run('fs_write', { path, content: 'Arabica', mode: 'create', createFolders: true })
  expect(await run('fs_search', { path: 'documents', text: 'arab', ignoreCase: true })).toContain(
    'new/coffee.txt',
  )
  using chat = await ChatSocket.open({ url: stack.url })
  const calls = [{ name: 'files__fs_list', arguments: { path: 'documents' } }]
  chat.send({ type: 'message', payload: { text: script({ calls }, { text: 'done' }) } })
  await chat.turnsDone()
  expect(JSON.stringify(chat.frames)).toContain('documents/tea.txt')
})

test('files are resources, whose changes are told, unless the policy denies them', async () => {
  const uri = pathToFileURL(join(documents, 'tea.txt')).href
  const { contents } = await legacy.readResource({ uri })
  expect(contents).toMatchObject([{ text: 'Darjeeling', mimeType: 'text/plain' }])
  const hidden = pathToFileURL(join(documents, 'private.txt')).href
  await expect(legacy.readResource({ uri: hidden })).rejects.toThrow()
  await expect(modern.readResource({ uri: hidden })).rejects.toThrow()
  const updated: string[] = []
  legacy.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri)
  })
  await legacy.subscribeResource({ uri })
  await eventually(async () => {
    await writeFile(join(documents, 'tea.txt'), `Assam ${updated.length}`)
    return updated.includes(uri)
  })
})

test('pages are read and searched, and no internal address is', async () => {
  const run = async (name: string, given: object): Promise<string> => {
    const { content } = await modern.callTool({ name, arguments: { ...given } })
    return JSON.stringify(content)
  }
  expect(await run('web_fetch', { url: `${origin}/page` })).toContain(`[milk](${origin}/milk)`)
  expect(await run('web_search', { query: 'tea' })).toContain('https://tea.example/')
  const broker = `http://127.0.0.1:${new URL(stack.broker.url).port}`
  for (const url of [broker, stack.url, 'https://169.254.169.254/']) {
    expect(await run('web_fetch', { url })).toMatch(/only https is fetched|no public address/)
  }
})
