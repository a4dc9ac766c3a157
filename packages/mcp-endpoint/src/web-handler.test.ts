import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { worker } from '../test/worker.ts'

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    compatibilityDate = "2026-07-30",
    compatibilityFlags = ["enable_request_signal"],
    modules = [
      (name = "main", esModule = "import { worker } from './worker.js'; export default worker"),
      (name = "worker.js", esModule = embed "worker.js"),
    ],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`

/** The bundled code of the worker and its remaining imports. */
async function bundle(): Promise<{ code: string; imports: string[] }> {
  const input = join(import.meta.dirname, '../test/worker.ts')
  await using built = await rolldown({ input, platform: 'neutral' })
  const { output } = await built.generate({ format: 'esm' })
  return output[0]
}

/** Starts the worker in workerd, the runtime of Cloudflare Workers. */
async function startWorkerd(): Promise<{ url: string } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-worker-'))
  stack.defer(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'worker.js'), (await bundle()).code)
  await writeFile(join(folder, 'config.capnp'), CONFIG)
  const { default: program } = createRequire(import.meta.url)('workerd') as { default: string }
  const child: ChildProcess = spawn(
    program,
    ['serve', join(folder, 'config.capnp'), '--control-fd=3'],
    { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] },
  )
  stack.defer(async () => {
    const gone = once(child, 'exit')
    if (child.kill('SIGKILL')) await gone
  })
  const [line] = await once(createInterface(child.stdio[3] as Readable), 'line')
  const { port } = JSON.parse(String(line)) as { port: number }
  const opened = stack.move()
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

test('the handler uses only web APIs', async () => {
  expect((await bundle()).imports).toEqual([])
})

let workerd: { url: string } & AsyncDisposable
beforeAll(async () => {
  workerd = await startWorkerd()
})
afterAll(() => workerd[Symbol.asyncDispose]())

type Run = (path: string, init?: RequestInit) => Promise<Response>

const runtimes: Readonly<Record<string, Run>> = {
  Node: (path, init) => worker.fetch(new Request(`http://localhost${path}`, init)),
  workerd: (path, init) => fetch(`${workerd.url}${path}`, init),
}

/** The number of requests that were aborted by their callers. */
async function aborted(run: Run): Promise<number> {
  return Number(await (await run('/aborted')).json())
}

/** A modern request without an answer. */
function waiting(meta: object = {}): RequestInit {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  }
  const params = { name: 'echo', arguments: 'wait', _meta }
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }
}

describe.each(Object.keys(runtimes))('the handler in %s', (runtime) => {
  const run = runtimes[runtime]!

  function post(message: object): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
    return run('/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  const result = async (answer: Promise<Response>): Promise<unknown> =>
    ((await (await answer).json()) as { result: unknown }).result

  test('the handler lists and calls tools', async () => {
    expect(await result(post({ method: 'tools/list' }))).toEqual({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    })
    const params = { name: 'echo', arguments: { a: 'ä' } }
    expect(await result(post({ method: 'tools/call', params }))).toEqual({
      content: [{ type: 'text', text: '{"a":"ä"}' }],
    })
  })

  test('the handler answers with a stream when messages precede the answer', async () => {
    const params = { name: 'echo', arguments: {}, _meta: { progressToken: 7 } }
    const answer = await post({ method: 'tools/call', params })
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const events = (await answer.text()).split('\n\n')
    expect(events[0]).toContain('"progressToken":7')
    expect(events[1]).toContain('"result":{"content"')
  })

  test('the handler starts a session with a notification stream', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {} }
    const initialized = await post({ method: 'initialize', params })
    const session = initialized.headers.get('mcp-session-id') ?? ''
    expect(await result(Promise.resolve(initialized))).toMatchObject({
      serverInfo: { name: 'worker' },
    })
    const { status, body } = await run('/mcp', {
      method: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-session-id': session },
    })
    expect(status).toBe(200)
    let received = ''
    for await (const chunk of body!) {
      received += new TextDecoder().decode(chunk)
      if (received.includes('"data":"hi"')) break
    }
    const ended = run('/mcp', { method: 'DELETE', headers: { 'mcp-session-id': session } })
    expect((await ended).status).toBe(204)
  })

  test('a modern request is aborted when its client leaves the stream', async () => {
    const before = await aborted(run)
    const { body } = await run('/mcp', waiting({ progressToken: 1 }))
    for await (const chunk of body!) if (chunk.length > 0) break
    await expect.poll(() => aborted(run)).toBe(before + 1)
  })

  test('unknown paths, large bodies and other methods are refused', async () => {
    expect((await run('/elsewhere', { method: 'POST', body: '{}' })).status).toBe(404)
    const large = { method: 'tools/list', params: { more: 'x'.repeat(8 * 1024 * 1024) } }
    expect((await post(large)).status).toBe(413)
    expect((await run('/mcp', { method: 'PUT', body: '{}' })).status).toBe(405)
  })
})

test('a request that was aborted before its answer ends', async () => {
  const run = runtimes['Node']!
  const before = await aborted(run)
  const left = new AbortController()
  const answered = run('/mcp', { ...waiting(), signal: left.signal })
  left.abort()
  await answered
  expect(await aborted(run)).toBe(before + 1)
})
