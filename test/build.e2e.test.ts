// The programs of `npm run build`, in a folder where they find no package, on a real nats-server.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, runProgram, startStack, testFolder } from '@mcp-host/testkit'
import { freePort, startService } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import openApi from '../docs/reference/openapi.json' with { type: 'json' }

const properties = { text: { type: 'string' } }
/** A schema that is checked in a thread, since its pattern may take forever. */
const expensive = { text: { type: 'string', pattern: '^(a+)+$' } }

const open = new AsyncDisposableStack()
let dist: string
let stack: Stack

beforeAll(async () => {
  dist = open.use(await testFolder()).path
  const build = open.use(await runProgram(['build', '--out', dist]))
  expect(await build.ended(), build.output()).toEqual({ code: 0, signal: null })
  stack = open.use(
    await startStack({
      dist,
      hasAccounts: true,
      env: { WEB_FOLDER: join(dist, 'gateway', 'web') },
      tools: [
        { name: 'echo', inputSchema: { type: 'object', properties }, answer: 'it was done' },
        { name: 'guarded', inputSchema: { type: 'object', properties: expensive } },
      ],
    }),
  )
})
afterAll(() => open.disposeAsync())

test('what is built may be read by any user, as that of a container', async () => {
  const files = await readdir(dist, { recursive: true, withFileTypes: true })
  const closed: string[] = []
  for (const file of files) {
    const path = join(file.parentPath, file.name)
    const { mode } = await stat(path)
    const needed = file.isDirectory() ? 0o005 : 0o004
    if ((mode & needed) !== needed) closed.push(path)
  }
  expect(files.length).toBeGreaterThan(20)
  expect(closed).toEqual([])
})

test('the built services answer a chat that calls a tool', async () => {
  using chat = await ChatSocket.open(stack)
  chat.say('call echo with text Oslo')
  await chat.turnsDone()
  expect(chat.text).toContain('it was done')
  expect(await stack.journal()).toContainEqual(expect.objectContaining({ tool: 'echo' }))
})

test('the built services answer MCP clients, and check costly schemas in a thread', async () => {
  await using client = await connect(`${stack.url}/mcp`)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['test__echo', 'test__guarded'])
  const call = (text: string) =>
    client.callTool({ name: 'test__guarded', arguments: { text } }).catch(String)
  expect(await call('aaa')).toMatchObject({ content: [{ type: 'text' }] })
  expect(JSON.stringify(await call('b'))).toContain('pattern')
  expect(await stack.log('mcp-supervisor')).not.toContain('schema-thread')
})

test('the built supervisor has what converts pages in a thread', async () => {
  const program = join(dist, 'mcp-supervisor', 'parts', 'page-thread.js')
  const workerData = { html: '<h1>Tea</h1>', url: 'https://tea.example/', format: 'markdown' }
  const thread = new Worker(program, { env: {}, execArgv: [], workerData })
  const [page] = await once(thread, 'message')
  expect(page).toEqual({ title: '', text: '# Tea' })
  await thread.terminate()
})

test('the built gateway serves the web UI and the description of its routes', async () => {
  const headers = { accept: 'text/html' }
  const page = await (await fetch(stack.url, { headers })).text()
  const [, script = ''] = /<script[^>]+src="([^"]+)"/.exec(page) ?? []
  expect((await fetch(new URL(script, stack.url))).headers.get('content-type')).toMatch(
    /javascript/,
  )
  const described = (await (await fetch(`${stack.url}/openapi.json`)).json()) as typeof openApi
  expect(Object.keys(described.paths)).toEqual(Object.keys(openApi.paths))
  expect(described.info).toEqual(openApi.info)
})

test('the built gateway has the authorization server of its accounts', async () => {
  await using guardian = new Guardian()
  const gateway = await start(guardian, 'gateway', {
    AUTH: 'local',
    PORT: String(await freePort()),
  })
  const metadata = await fetch(`${gateway.url}/.well-known/oauth-authorization-server`)
  expect(await metadata.json()).toHaveProperty('registration_endpoint')
  expect((await fetch(`${gateway.url}/login`)).status).toBe(200)
  await gateway.stop()
})

test('the built worker has the packages of the providers', async () => {
  await stack.stop('llm-worker')
  const provider = createServer((request, response) => {
    request.resume()
    if (request.method === 'GET') return response.writeHead(404).end()
    const part = { id: 'c', choices: [{ index: 0, delta: { content: 'from the provider' } }] }
    return response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: ${JSON.stringify(part)}\n\ndata: [DONE]\n\n`)
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  await using guardian = new Guardian()
  const worker = await start(guardian, 'llm-worker', {
    LLM_CONFIG: 'none',
    LLM_PROVIDER: 'openai-compatible',
    LLM_MODEL: 'some',
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${port}/v1`,
  })
  using chat = await ChatSocket.open(stack)
  chat.say('hello')
  await chat.turnsDone()
  expect(chat.text).toContain('from the provider')
  await worker.stop()
  provider.closeAllConnections()
  provider.close()
})

test('the built commands of operators list the servers, and explain what they lack', async () => {
  const credential = {
    NATS_URL: stack.broker.url,
    NATS_NKEY_SEED_FILE: stack.broker.seedFile('tools'),
  }
  const listed = await operator(['servers', '--json'], credential)
  expect(JSON.parse(listed.out)).toContainEqual(expect.objectContaining({ name: 'test' }))
  const lacking = await operator(['nothing'])
  expect(lacking).toMatchObject({ code: 2, err: expect.stringContaining('bus-accounts') })
})

test('a build replaces nothing but a build', async () => {
  const folder = open.use(await testFolder()).path
  const kept = join(folder, 'tools', 'kept.ts')
  await mkdir(dirname(kept))
  await writeFile(kept, '')
  await using build = await runProgram(['build', '--out', folder, 'tools'])
  expect(await build.ended()).toMatchObject({ code: 2 })
  expect(build.output()).toContain(`${dirname(kept)} has other files than those of a build`)
  expect(await readFile(kept, 'utf8')).toBe('')
})

test('a source map leads from a built program to its sources', async () => {
  const file = join(dist, 'orchestrator', 'main.js')
  const { sources } = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { sources: string[] }
  expect(sources.some((each) => each.endsWith('services/orchestrator/src/main.ts'))).toBe(true)
  const program = await readFile(file, 'utf8')
  expect(Buffer.from(program, 'latin1').toString('latin1') === program).toBe(true)
})

async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

function start(
  guardian: Guardian,
  name: 'gateway' | 'llm-worker',
  env: Record<string, string>,
): ReturnType<typeof startService> {
  const { broker } = stack
  const NATS_NKEY_SEED_FILE = broker.seedFile(name)
  return startService(guardian, {
    name,
    dist,
    folder: join(dist, 'run'),
    env: { NATS_URL: broker.url, NATS_NKEY_SEED_FILE, ...env },
  })
}

async function operator(
  args: readonly string[],
  env: Record<string, string | undefined> = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  await using guardian = new Guardian()
  const { stdout, stderr, gone } = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [join(dist, 'tools', 'main.js'), ...args],
    cwd: dist,
    env,
    stdin: 'ignore',
  })
  const [out, err] = await Promise.all([stdout, stderr].map((each) => readText(each!)))
  return { code: (await gone).code, out: out ?? '', err: err ?? '' }
}
