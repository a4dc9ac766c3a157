// Published servers from npm.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { MCPHost, type ServerRequest, type ServerSnapshot } from '../../src/index.ts'
import { eventually, isAlive, textOf } from '@mcp-host/mcp-testkit'
import { nodeServer, programOf } from './installed.ts'
import { startOnPort } from './start-peer.ts'

const ROOT = 'file:///somewhere'

const owner = new AsyncDisposableStack()
const host = new MCPHost({ env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } })
const logged: ServerRequest[] = []
const updated: string[] = []

function answer(request: ServerRequest): unknown {
  if (request.kind === 'elicitation') return { action: 'accept', content: { name: 'Ada' } }
  if (request.kind === 'log') return logged.push(request)
  const content = { type: 'text', text: 'serendipity' }
  return { role: 'assistant', model: 'thinker', content }
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-'))
  owner.defer(() => rm(folder, { recursive: true, force: true }))
  const everything = programOf('@modelcontextprotocol/server-everything')
  const [httpPort, ssePort] = await Promise.all([
    startOnPort(owner, [everything, 'streamableHttp'], /listening on port/),
    startOnPort(owner, [everything, 'sse'], /running on port/),
  ])
  owner.defer(() => host.shutdown())
  host.registerCallback(answer, ['sampling', 'elicitation', 'log'])
  host.on('resource-updated', ({ server, uri }) => updated.push(`${server} ${uri}`))
  const roots = [ROOT]
  await host.initialize({
    servers: {
      stdio: nodeServer([everything, 'stdio'], { roots }),
      http: { type: 'http', url: `http://127.0.0.1:${httpPort}/mcp`, headers: {}, roots },
      sse: { type: 'sse', url: `http://127.0.0.1:${ssePort}/sse`, headers: {}, roots },
      memory: nodeServer([programOf('@modelcontextprotocol/server-memory')], {
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      }),
      thinking: nodeServer([programOf('@modelcontextprotocol/server-sequential-thinking')]),
      playwright: nodeServer([programOf('@playwright/mcp', 'cli.js')], { cwd: folder }),
    },
  })
}, 60_000)

afterAll(() => owner.disposeAsync())

function find(server: string): ServerSnapshot | undefined {
  return host.getServers().find(({ name }) => name === server)
}

function toolNames(server: string): string[] | undefined {
  return find(server)?.tools.map(({ name }) => name)
}

async function call(
  server: string,
  tool: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  return textOf(await host.callTool({ server, tool }, args))
}

describe.each(['stdio', 'http', 'sse'])('server-everything over %s', (server) => {
  test('server-everything lists its items, including those that depend on the client', async () => {
    await eventually(() => toolNames(server)?.includes('trigger-sampling-request'))
    // The server has 17 tools; one can be called only as a task, which the host does not support and leaves out.
    expect(toolNames(server)).toHaveLength(16)
    expect(toolNames(server)).not.toContain('simulate-research-query')
    expect(find(server)?.prompts).toHaveLength(4)
    expect(find(server)?.resources).toHaveLength(7)
    expect(find(server)?.resourceTemplates).toHaveLength(2)
    expect(find(server)).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' })
  })

  test('tools of server-everything can be called', async () => {
    expect(await call(server, 'get-sum', { a: 2, b: 3 })).toContain('5')
    const weather = { server, tool: 'get-structured-content' }
    const { structuredContent } = await host.callTool(weather, { location: 'Chicago' })
    expect(structuredContent).toMatchObject({ temperature: expect.any(Number) })
  })

  test('server-everything gets an answer to its sampling request', async () => {
    const args = { prompt: 'a word, please', maxTokens: 5 }
    expect(await call(server, 'trigger-sampling-request', args)).toContain('serendipity')
  })

  test('server-everything gets an answer to its elicitation, completed with the defaults of the form', async () => {
    const tool = { server, tool: 'trigger-elicitation-request' }
    const text = JSON.stringify((await host.callTool(tool)).content)
    expect(text).toContain('Ada')
    expect(text).toContain('It was a dark and stormy night.')
  })

  test('server-everything receives the configured roots', async () => {
    expect(await call(server, 'get-roots-list')).toContain(ROOT)
  })

  test('progress of server-everything reaches the caller', async () => {
    const seen: unknown[] = []
    await host.callTool(
      { server, tool: 'trigger-long-running-operation' },
      { duration: 0.02, steps: 2 },
      { onProgress: (progress) => seen.push(progress) },
    )
    expect(seen).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ])
  })

  test('resources of server-everything can be read and subscribed to, and its log messages arrive', async () => {
    const uri = 'demo://resource/dynamic/text/1'
    const { contents } = await host.getResource({ server, uri })
    expect(contents).toMatchObject([{ uri, mimeType: 'text/plain' }])
    await host.setLoggingLevel('debug', server)
    await host.subscribe({ server, uri })
    await eventually(() => logged.find((entry) => entry.server === server && isAbout(entry, uri)))
    await call(server, 'toggle-subscriber-updates')
    await eventually(() => updated.includes(`${server} ${uri}`))
    await host.unsubscribe({ server, uri })
    await call(server, 'toggle-subscriber-updates')
  })

  test('prompts of server-everything can be read, and their arguments completed', async () => {
    const prompt = { server, prompt: 'args-prompt' }
    const { messages } = await host.getPrompt(prompt, { city: 'Oslo' })
    expect(JSON.stringify(messages)).toContain('Oslo')
    const { completion } = await host.complete({
      ref: { type: 'ref/prompt', name: `${server}.completable-prompt` },
      argument: { name: 'name', value: 'D' },
      context: { arguments: { department: 'Sales' } },
    })
    expect(completion.values).toEqual(['David'])
  })
})

function isAbout(request: ServerRequest, uri: string): boolean {
  return request.kind === 'log' && String(request.data).includes(uri)
}

test('server-memory finds an entity that was stored', async () => {
  expect(toolNames('memory')).toHaveLength(9)
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }]
  await call('memory', 'create_entities', { entities })
  expect(await call('memory', 'search_nodes', { query: 'counts' })).toContain('Ada')
})

test('server-sequential-thinking accepts a thought', async () => {
  expect(toolNames('thinking')).toEqual(['sequentialthinking'])
  const thought = { thought: 'first', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true }
  expect(JSON.parse(await call('thinking', 'sequentialthinking', thought))).toMatchObject({
    thoughtNumber: 1,
  })
})

test('playwright lists its tools', () => {
  expect(toolNames('playwright')).toHaveLength(25)
  expect(toolNames('playwright')).toContain('browser_navigate')
})

test('a shutdown stops all servers and leaves no process', async () => {
  const pids = host.getServers().flatMap(({ pid }) => pid ?? [])
  expect(pids).toHaveLength(4)
  await host.shutdown()
  expect(pids.filter(isAlive)).toEqual([])
  expect(host.getServers().map(({ state }) => state)).toEqual(Array(6).fill('shutdown'))
})
