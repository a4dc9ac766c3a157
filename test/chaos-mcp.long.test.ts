// MCP calls under load while processes die: each call ends with an answer or an actionable error, and none runs twice.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { eventually, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CALLERS_OF_A_KIND = 12
const OUTAGE_MS = 2_000
/** Arguments that are too large for a message of the bus. */
const LARGE_BYTES = 600_000
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }

let stack: Stack
/** The gateways, of which the first is killed. */
let gateways: readonly string[]
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'work', inputSchema, delayMs: 50 },
      { name: 'large', inputSchema, delayMs: 50, bytes: LARGE_BYTES },
    ],
    servers: { many: { placement: 'every' } },
  })
  const [gateway] = await Promise.all([stack.add('gateway'), stack.add('mcp-supervisor')])
  gateways = [stack.url, gateway.url]
  await eventually(areAllReady, { what: 'both replicas of many' })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function areAllReady(): Promise<boolean> {
  const response = await fetch(`${stack.url}/health`)
  const { servers } = (await response.json()) as { servers: { instances: { state: string }[] }[] }
  const states = servers.flatMap(({ instances }) => instances.map(({ state }) => state))
  return states.length === 3 && states.every((state) => state === 'ready')
}

interface Given {
  /** A text that is unique to the call. */
  readonly text: string
}

/** The end of a call: with its result, not started, in doubt, or without an answer. */
type End = 'result' | 'not-begun' | 'unknown-outcome' | 'broken'

interface Call extends Given {
  readonly gateway: string
  readonly tool: string
}

interface Ended extends Call {
  readonly end: End | { readonly undocumented: unknown }
}

type Caller = (call: Call) => Promise<Ended['end']>

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: { readonly result?: object; readonly error?: { readonly code?: unknown } } & object
}

/** Rejects with a `TypeError` when the connection breaks. */
async function post(url: string, body: object, headers: object = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const { status, headers: answered } = response
  return { status, headers: answered, body: JSON.parse(await response.text()) }
}

function endOf({ body }: Answer): Ended['end'] {
  if (body.result !== undefined) return 'result'
  const error = JSON.stringify(body.error)
  if (/"code":-32000.*"reason":"unavailable","retryable":true/.test(error)) return 'not-begun'
  const inDoubt = /"code":-32000.*"reason":"unknown-outcome","retryable":false/
  return inDoubt.test(error) ? 'unknown-outcome' : { undocumented: body }
}

function restEndOf({ status, body }: Answer): Ended['end'] {
  if (status === 200) return 'result'
  if (status === 503) return 'not-begun'
  const isInDoubt = status === 502 && JSON.stringify(body).includes('"reason":"unknown-outcome"')
  return isInDoubt ? 'unknown-outcome' : { undocumented: body }
}

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params })

/** A client of 2025-11-25 with a session, which is valid at any gateway. */
async function legacyCaller(): Promise<Caller> {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old' } }
  const { headers } = await post(`${stack.url}/mcp`, rpc('initialize', hello))
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
  return async ({ gateway, tool, text }) => {
    const params = { name: tool, arguments: { text } }
    return endOf(await post(`${gateway}/mcp`, rpc('tools/call', params), session))
  }
}

/** A client of 2026-07-28 without a session. */
async function modernCaller(): Promise<Caller> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'new', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }
  return async ({ gateway, tool, text }) => {
    const params = { name: tool, arguments: { text }, _meta }
    return endOf(
      await post(`${gateway}/mcp`, rpc('tools/call', params), { ...headers, 'mcp-name': tool }),
    )
  }
}

/** A client of the REST routes. */
async function restCaller(): Promise<Caller> {
  return async ({ gateway, tool, text }) =>
    restEndOf(await post(`${gateway}/mcp/tools/call`, { name: tool, arguments: { text } }))
}

test('no call under load runs twice when a process of any service dies', async () => {
  const stop = new AbortController()
  const ended: Ended[] = []
  let count = 0
  const call = async (caller: Caller, gateway: string): Promise<Ended> => {
    const number = count++
    const server = number % 2 === 0 ? 'test' : 'many'
    const tool = number % 20 < 2 ? 'large' : 'work'
    const target = { gateway, tool: `${server}__${tool}`, text: `call ${number}` }
    const end = await caller(target).catch((error: unknown): End => {
      if (error instanceof TypeError) return 'broken'
      throw error
    })
    ended.push({ ...target, end })
    return { ...target, end }
  }
  /** Calls alternate between the gateways and overlap. */
  const keepCalling = async (caller: Caller): Promise<void> => {
    const calls: Promise<Ended>[] = []
    for (let turn = 0; !stop.signal.aborted; turn++) {
      const next = call(caller, gateways[turn % 2] ?? '')
      calls.push(next)
      await Promise.race([next, sleep(500)])
    }
    await Promise.all(calls)
  }
  const someMore = async (): Promise<void> => {
    const results = (): number => ended.filter(({ end }) => end === 'result').length
    const before = results()
    await eventually(() => results() >= before + 200, { what: 'calls that go well' })
  }

  const kinds = [legacyCaller, modernCaller, restCaller].map((kind) =>
    Array.from({ length: CALLERS_OF_A_KIND }, kind),
  )
  const callers = await Promise.all(kinds.flat())
  const load = Promise.all(callers.map(keepCalling))
  await someMore()
  for (const service of ['mcp-supervisor', 'gateway'] as const) {
    await stack.kill(service)
    await stack.restart(service)
    await someMore()
  }
  await stack.broker.kill()
  await sleep(OUTAGE_MS)
  await stack.broker.start()
  await someMore()
  const last = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      call(callers[(index * 5) % callers.length] as Caller, gateways[index % 2] ?? ''),
    ),
  )
  stop.abort()
  await load

  const runs = Map.groupBy(await stack.journal(), (entry) => (entry.arguments as Given).text)
  const wrong = ended
    .map((each) => ({ ...each, runs: runs.get(each.text)?.length ?? 0 }))
    .filter((each) => {
      if (each.end === 'result') return each.runs !== 1
      if (each.end === 'not-begun') return each.runs !== 0
      if (each.end === 'broken') return each.runs > 1 || each.gateway !== stack.url
      return each.end !== 'unknown-outcome' || each.runs > 1
    })
  expect(wrong).toEqual([])
  expect(last.map(({ end }) => end)).toEqual(last.map(() => 'result'))
  // Besides these, four times 200 calls have succeeded.
  expect(runs.size).toBeGreaterThan(800)
})
