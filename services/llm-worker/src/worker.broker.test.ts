// A worker on a real broker, with a fake of Gemini over real HTTP.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as bodyOf } from 'node:stream/consumers'
import type { Bus } from '@mcp-host/bus'
import type {
  GenerateRequest,
  GenerationId,
  GenerationResult,
  SessionId,
} from '@mcp-host/contracts'
import {
  BusError,
  generate,
  generationControl,
  generationSnapshot,
  generationId,
  newEnvelope,
  newSessionId,
  presentProviders,
  sample,
} from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { loadConfig } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { workerSettings } from './config.ts'
import { createWorker } from './worker.ts'

/** A request that reached the provider. */
interface ProviderRequest {
  readonly body: string
  readonly response: ServerResponse
  /** Resolves when its connection is closed. */
  readonly closed: Promise<unknown>
}

const envelope = newEnvelope('local')
const options = { envelope, timeoutMs: 5_000 }

let broker: Broker
let orchestrator: Bus
let requests: ProviderRequest[]
let provider: string
const server = createServer((request, response) => {
  // The list of models.
  if (request.method === 'GET') {
    response.writeHead(404).end()
    return
  }
  const closed = once(response, 'close')
  void bodyOf(request).then((body) => requests.push({ body, response, closed }))
})
beforeAll(async () => {
  broker = await startBroker()
  orchestrator = await broker.connect()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  provider = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await broker[Symbol.asyncDispose]()
})

let session: SessionId
let metrics: Registry
let stack: AsyncDisposableStack
beforeEach(() => {
  session = newSessionId()
  requests = []
  stack = new AsyncDisposableStack()
})
// The ping returns once the broker has removed the subscriptions of the test.
afterEach(async () => {
  await stack.disposeAsync()
  await orchestrator.ping()
})

async function startWorker(
  env: Readonly<Record<string, string>> = {},
  bus?: Bus,
): Promise<Service> {
  bus ??= await broker.connect()
  stack.defer(() => bus.ping())
  metrics = new Registry()
  const quiet = (): void => undefined
  const logger = { info: quiet, warn: quiet, error: quiet }
  // A worker uses only these members, and these methods of the logger.
  const deps = { bus, logger, metrics } as unknown as ServiceDeps
  const keys = { GEMINI_API_KEY: 'key', GEMINI_BASE_URL: `${provider}/v1beta` }
  const all = { LLM_CONFIG: 'none', ...keys, ...env }
  const worker = stack.use(await createWorker(deps, loadConfig(workerSettings, all), all))
  // The ping returns once the broker knows the subscriptions of the worker.
  await bus.ping()
  return worker
}

/** Requests a generation from a worker. */
async function start(
  fence: number,
  more: Partial<GenerateRequest> = {},
): Promise<{ worker: string; generation: GenerationId }> {
  const generation = generationId(session, fence)
  const request = {
    session,
    turn: 1,
    generation,
    messages: [{ role: 'user' as const, text: `message ${fence}.` }],
    tools: [],
    deadline: Date.now() + 60_000,
    ...more,
  }
  const { worker } = await orchestrator.call(generate, {}, request, options)
  return { worker, generation }
}

/** Waits for the request with a text to reach the provider. */
function providerRequest(text: string): Promise<ProviderRequest> {
  return eventually(() => requests.find(({ body }) => body.includes(text)), { what: text })
}

/** Sends text in the answer of the provider, and its end with a finish reason. */
function sendText({ response }: ProviderRequest, text: string, finishReason?: string): void {
  const candidate = { content: { role: 'model', parts: [{ text }] }, finishReason }
  response.write(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
  if (finishReason !== undefined) response.end()
}

const results = async (): Promise<GenerationResult[]> =>
  (await orchestrator.sessions.read(session, 0)).flatMap((entry) =>
    entry.kind === 'generation' ? [entry.fact] : [],
  )

function result(generation: GenerationId): Promise<GenerationResult> {
  return eventually(async () => (await results()).find((each) => each.generation === generation))
}

const control = (generation: GenerationId, action: 'ping' | 'cancel'): Promise<unknown> =>
  orchestrator.call(generationControl, { generation }, { action }, options)

/** Waits until the worker has text of the generation. */
const written = (generation: GenerationId): Promise<unknown> =>
  eventually(async () => {
    const request = { offset: 0 }
    const { deltas } = await orchestrator.call(generationSnapshot, { generation }, request, options)
    return deltas.length > 0
  })

const isUnavailable = (error: unknown): boolean =>
  error instanceof BusError && error.code === 'unavailable'

/** The number of measured cancels. */
async function measuredCancels(): Promise<number> {
  const text = await metrics.getSingleMetricAsString('mcp_host_generation_cancel_seconds')
  return Number(/_count\S* (\d+)/.exec(text)?.[1] ?? 0)
}

describe('cancelled generations', () => {
  test('a cancelled generation closes its request at once, keeps its text and affects no other', async () => {
    await startWorker()
    const { generation } = await start(1)
    const other = await start(2)
    const [mine, theirs] = [
      await providerRequest('message 1.'),
      await providerRequest('message 2.'),
    ]
    sendText(mine, 'so far')
    await written(generation)
    await control(generation, 'cancel')
    await mine.closed
    expect(await result(generation)).toMatchObject({
      outcome: 'cancelled',
      content: [{ type: 'text', text: 'so far' }],
    })
    expect(await measuredCancels()).toBe(1)
    sendText(theirs, 'all of it', 'STOP')
    expect(await result(other.generation)).toMatchObject({ outcome: 'completed' })
    expect(await measuredCancels()).toBe(1)
  })

  test('a generation is cancelled at once before the first byte of its provider', async () => {
    await startWorker()
    const { generation } = await start(1)
    const { closed } = await providerRequest('message 1.')
    await control(generation, 'cancel')
    await closed
    expect(await result(generation)).toMatchObject({ outcome: 'cancelled', content: [] })
  })

  test('a generation that is cancelled before its request does not reach its provider', async () => {
    await startWorker()
    const prompt = await orchestrator.blobs.put(Buffer.alloc(8_000_000))
    const { generation } = await start(1, { messages: [], prompt })
    await control(generation, 'cancel')
    expect(await result(generation)).toMatchObject({ outcome: 'cancelled', content: [] })
    expect(requests).toEqual([])
  })

  test('the cancel of a completed generation is refused', async () => {
    await startWorker()
    const { generation } = await start(1)
    sendText(await providerRequest('message 1.'), 'all of it', 'STOP')
    await result(generation)
    await eventually(() => control(generation, 'cancel').then(() => false, isUnavailable))
    expect(await results()).toMatchObject([{ outcome: 'completed' }])
    expect(await measuredCancels()).toBe(0)
  })
})

test('a cancelled sampling request closes its request to the provider at once', async () => {
  await startWorker()
  const id = `${session}-s` as GenerationId
  const content = { type: 'text' as const, text: 'sample me' }
  const request = { id, messages: [{ role: 'user' as const, content }], maxTokens: 10 }
  const reply = orchestrator.call(sample, {}, request, { ...options, timeoutMs: 20_000 })
  const refused = expect(reply).rejects.toMatchObject({ code: 'cancelled' })
  const { closed } = await providerRequest('sample me')
  await control(id, 'cancel')
  await closed
  await refused
  expect(await measuredCancels()).toBe(1)
})

describe('prompts in the object store', () => {
  test('a stored prompt is sent to the model, and removed when the result is in the log', async () => {
    await startWorker()
    const tool = { safeName: 'w__rain', server: 'w', tool: 'rain', inputSchema: {} }
    const messages = [{ role: 'user', text: `from the store ${'x'.repeat(1_500_000)}` }]
    const bytes = Buffer.from(JSON.stringify({ messages, tools: [tool] }))
    const prompt = await orchestrator.blobs.put(bytes, { session })
    const { generation } = await start(1, { messages: [], prompt })
    const { response, body } = await providerRequest('from the store')
    expect(body).toContain('w__rain')
    const functionCall = { name: 'w__rain', args: {} }
    const parts = [{ functionCall }]
    const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }]
    response.end(`data: ${JSON.stringify({ candidates })}\n\n`)
    expect((await result(generation)).content).toMatchObject([{ server: 'w', tool: 'rain' }])
    await eventually(() =>
      orchestrator.blobs.get(prompt.key).then(
        () => false,
        (error: unknown) => error instanceof BusError && error.code === 'not-found',
      ),
    )
  })

  test.each([
    ['missing', 'missing', 'not-found'],
    ['invalid', '{"messages":[{}]}', 'invalid'],
  ])('a generation whose stored prompt is %s fails with that error', async (_, text, code) => {
    await startWorker()
    const prompt = await orchestrator.blobs.put(Buffer.from(text))
    if (text === 'missing') await orchestrator.blobs.remove(prompt.key)
    const { generation } = await start(1, { messages: [], prompt })
    expect(await result(generation)).toMatchObject({ outcome: 'failed', error: { code } })
    expect(requests).toEqual([])
  })
})

describe('full workers', () => {
  test('a full worker takes no generations until one has ended', async () => {
    await startWorker({ MAX_GENERATIONS: '1' })
    const { generation } = await start(1)
    await expect(start(2)).rejects.toMatchObject({ code: 'unavailable' })
    sendText(await providerRequest('message 1.'), 'done', 'STOP')
    await result(generation)
    await eventually(() =>
      start(3).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'unavailable' })
        return undefined
      }),
    )
    await providerRequest('message 3.')
  })

  test('a generation goes to a worker that is not full', async () => {
    await startWorker({ MAX_GENERATIONS: '1' })
    await startWorker({ MAX_GENERATIONS: '1' })
    const first = await start(1)
    const second = await eventually(() => start(2).catch(() => undefined))
    expect(second.worker).not.toBe(first.worker)
  })

  test('a worker refuses concurrent generations beyond its limit', async () => {
    await startWorker({ MAX_GENERATIONS: '3' })
    const fences = Array.from({ length: 20 }, (_, index) => index + 1)
    const ends = await Promise.allSettled(fences.map((fence) => start(fence)))
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    expect(refused).toHaveLength(17)
    for (const reason of refused) expect(reason).toMatchObject({ code: 'unavailable' })
  })
})

test('a worker that is full of generations still takes a sampling request', async () => {
  await startWorker({ MAX_GENERATIONS: '40' })
  const fences = Array.from({ length: 40 }, (_, index) => index + 1)
  await Promise.all(fences.map((fence) => start(fence)))
  const content = { type: 'text' as const, text: 'sample me' }
  const request = { messages: [{ role: 'user' as const, content }], maxTokens: 10 }
  const reply = orchestrator.call(sample, {}, request, { ...options, timeoutMs: 20_000 })
  const [provided] = await Promise.all([
    providerRequest('sample me'),
    Promise.race([reply, providerRequest('sample me')]),
  ])
  sendText(provided, 'here', 'STOP')
  expect(await reply).toMatchObject({ content: { text: 'here' } })
})

describe('stopping workers', () => {
  test('a draining worker takes no more generations and finishes running ones', async () => {
    const worker = await startWorker()
    const { generation } = await start(1)
    const provided = await providerRequest('message 1.')
    const drained = worker.drain()
    await expect(start(2)).rejects.toMatchObject({ code: 'unavailable' })
    sendText(provided, 'all of it', 'STOP')
    await drained
    expect(await results()).toMatchObject([{ generation, outcome: 'completed' }])
  })

  test('a disposed worker aborts running generations and records no result', async () => {
    const worker = await startWorker()
    const { generation } = await start(1)
    const { closed } = await providerRequest('message 1.')
    await worker[Symbol.asyncDispose]()
    await closed
    await expect(control(generation, 'ping')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await results()).toEqual([])
  })
})

test.each([
  [{}, { model: 'gemini-flash-latest', contextWindow: 1_048_576 }],
  [{ LLM_CONTEXT_TOKENS: '9000' }, { contextWindow: 9_000 }],
  [{ LLM_PROVIDER: 'demo' }, { model: 'demo-1', contextWindow: 131_072 }],
])('the catalog shows the model and its context: %j', async (env, entry) => {
  await startWorker(env)
  const { entries } = await orchestrator.catalog.watch()
  expect(entries.get('model.default')).toMatchObject(entry)
})

test('the catalog shows the faults of a changed llm.json until they are corrected', async () => {
  const folder = stack.use(await testFolder())
  const path = join(folder.path, 'llm.json')
  await writeFile(path, '{}')
  await startWorker({ LLM_CONFIG: path })
  const { entries } = await orchestrator.catalog.watch()
  const modelEntry = (): unknown => entries.get('model.default')
  await writeFile(path, '{ "defualt": "gemini" }')
  await eventually(() => JSON.stringify(modelEntry()).includes('defualt'))
  expect(modelEntry()).toMatchObject({ provider: 'gemini', faults: expect.stringContaining(path) })
  await writeFile(path, '{ "default": "demo" }')
  await eventually(() => JSON.stringify(modelEntry()).includes('demo-1'))
  expect(modelEntry()).not.toHaveProperty('faults')
})

test('a provider that llm.json no longer has leaves the catalog at once', async () => {
  const folder = stack.use(await testFolder())
  const path = join(folder.path, 'llm.json')
  const own = { type: 'openai-compatible', baseUrl: provider }
  await writeFile(path, JSON.stringify({ default: 'demo', providers: { own } }))
  await startWorker({ LLM_CONFIG: path })
  const { entries } = await orchestrator.catalog.watch()
  const names = () => presentProviders(entries.values()).map((each) => each.provider)
  await eventually(() => names().includes('own'))
  await writeFile(path, '{ "default": "demo" }')
  await eventually(() => !names().includes('own'))
  expect(entries.has('provider.own')).toBe(true)
})

test('a generation uses the model that its request names', async () => {
  await startWorker()
  const { generation } = await start(1, { model: 'gemini/another-one' })
  sendText(await providerRequest('message 1.'), 'from another', 'STOP')
  expect(await result(generation)).toMatchObject({
    outcome: 'completed',
    provider: 'gemini',
    model: 'another-one',
  })
})

test('a generation with an unknown provider fails with the known ones', async () => {
  await startWorker()
  const { generation } = await start(1, { model: 'parrot/grey' })
  const message = 'there is no provider "parrot"; there are gemini, ollama, lmstudio, demo'
  expect(await result(generation)).toMatchObject({
    outcome: 'failed',
    provider: 'parrot',
    model: 'grey',
    error: { code: 'invalid', message },
  })
})

test('a worker starts while nothing can be stored, and announces its model later', async () => {
  const bus = await broker.connect()
  const { catalog } = bus
  const put = catalog.put.bind(catalog)
  let isFull = true
  let refused = 0
  catalog.put = async (entry, ...rest) => {
    if (!isFull) return put(entry, ...rest)
    refused += 1
    throw new BusError('unavailable', 'nats-server stores nothing')
  }
  await startWorker({ LLM_MODEL: 'announced-late' }, bus)
  expect(refused).toBeGreaterThan(0)
  isFull = false
  const { entries } = await orchestrator.catalog.watch()
  const models = (): string[] =>
    Array.from(entries.values()).flatMap((entry) => (entry.kind === 'model' ? entry.model : []))
  await eventually(() => models().includes('announced-late'))
})
