import type {
  GenerateRequest,
  LogFact,
  LostRange,
  OfferedTool,
  ServerName,
} from '@mcp-host/contracts'
import type { Generation } from '@mcp-host/session-state'
import { BusError, generationId } from '@mcp-host/contracts'
import { emptySession } from '@mcp-host/session-state'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  claim,
  envelope,
  fold,
  input,
  next,
  result,
  session,
} from '../context/__fixtures__/facts.ts'
import { nextGeneration, requestGeneration, watchGeneration } from './generation-step.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

let waits: number[]
let pings: number
/** Remaining validity of the last heartbeat, at each check. */
let fresh: number[]
beforeEach(() => {
  vi.useFakeTimers()
  waits = []
  pings = 0
  fresh = []
})
afterEach(() => void vi.useRealTimers())

const generation = { id: generationId(session, 1) } as Generation

/** Watches a generation without log entries and without an answer of a worker. */
async function watch(): Promise<unknown> {
  // Here and below, only the members that watchGeneration uses.
  const deps = {
    bus: {
      async call() {
        pings++
        throw new BusError('unavailable', 'nobody answers')
      },
      sessions: { lastSequence: async () => 0 },
    },
    heard: { freshMs: () => fresh.shift() ?? 0 },
  } as unknown as TurnDeps
  const view = { state: emptySession(), change: async (ms: number) => void waits.push(ms) }
  const outcome = watchGeneration(
    deps,
    { session, view, envelope } as unknown as ClaimedTurn,
    generation,
  )
  await vi.runAllTimersAsync()
  return outcome
}

test('a worker is not probed while its heartbeats name the generation', async () => {
  fresh = [300, 500]
  expect(await watch()).toBe('news')
  expect([waits, pings]).toEqual([[300], 0])
})

test('a generation whose worker falls silent is dead after two unanswered probes', async () => {
  fresh = [300]
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[300], 2])
})

test('a generation without a first heartbeat is probed after a second', async () => {
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[1_000], 2])
})

/** 60 tools of about 300 tokens each. */
const tools = Array.from({ length: 60 }, (_, index): OfferedTool => ({
  safeName: `t${index}`,
  server: 's',
  tool: `t${index}`,
  description: 'word '.repeat(300),
  inputSchema: { type: 'object' },
}))

/** The request to a worker after these facts. */
async function request(contextTokens: number, ...facts: LogFact[]): Promise<GenerateRequest> {
  const requests: GenerateRequest[] = []
  const deps = {
    bus: {
      clock: { now: () => Date.now() },
      call: async (_contract: unknown, _params: unknown, sent: GenerateRequest) =>
        requests.push(sent),
    },
    logger: { info: () => undefined, warn: () => undefined },
    tools: { offered: async () => tools },
    policy: { effectOf: () => 'allow', isHidden: () => false, refusalOf: async () => undefined },
    chargeTokens: () => undefined,
    model: () => undefined,
    limits: {
      contextTokens,
      maxOfferedTools: 100,
      maxResultTokens: 1_000,
      maxHistoryLength: 0,
      summarizationThreshold: 85,
      retainNewestMessages: 0,
    },
    systemPrompt: '',
    // requestGeneration uses only these members.
  } as unknown as TurnDeps
  const never = new AbortController().signal
  const ends = { cancelled: never, leaving: never, over: never }
  const view = { state: fold(...facts) }
  const first = view.state.inputs.keys().next().value ?? 0
  // requestGeneration uses only these members.
  const turn = { session, input: first, envelope, view, ...ends } as unknown as ClaimedTurn
  await requestGeneration(deps, turn, generation.id, true)
  return requests[0]!
}

const message = (text: string): LogFact[] => [input('m', text), claim(1, 1)]
const names = ({ tools: offered }: GenerateRequest): string[] =>
  offered.map(({ safeName }) => safeName)

test('tools that leave no room for the conversation are replaced by a search', async () => {
  vi.useRealTimers()
  const sent = await request(16_000, ...message('hello'))
  expect(sent.messages).toEqual([{ role: 'user', text: 'hello' }])
  expect(names(sent)).toEqual(['find_tools'])
})

test('a message that leaves no room for tools is sent without tools', async () => {
  vi.useRealTimers()
  const long = 'word '.repeat(700)
  const sent = await request(1_000, ...message(long))
  expect(sent.messages).toEqual([{ role: 'user', text: long }])
  expect(names(sent)).toEqual([])
})

test('a model is offered no tools after two context overflows', async () => {
  vi.useRealTimers()
  const error = { code: 'invalid', message: 'too long', reason: 'context-overflow' } as const
  const overflow = (seq: number): LogFact[] => [
    result(seq, [], { outcome: 'failed', error }),
    next(1, seq + 1, seq, 'too long'),
  ]
  const begin = message('hello')
  expect(names(await request(16_000, ...begin, ...overflow(1)))).toEqual(['find_tools'])
  expect(names(await request(16_000, ...begin, ...overflow(1), ...overflow(2)))).toEqual([])
})

test('the system prompt and temperature of a session are sent to its model', async () => {
  vi.useRealTimers()
  const chosen = (settings: object): LogFact => ({
    kind: 'control',
    fact: { type: 'settings-chosen', ...settings },
  })
  const own = { systemPrompt: 'Be short.', temperature: 0.2 }
  expect(await request(16_000, chosen(own), ...message('hello'))).toMatchObject({
    system: 'Be short.',
    temperature: 0.2,
  })
  const reset = { systemPrompt: null, temperature: null }
  const sent = await request(16_000, chosen(own), chosen(reset), ...message('hello'))
  expect(sent).not.toHaveProperty('temperature')
  expect(sent).not.toHaveProperty('system')
})

test('a model is offered only the tools of the servers that its session chose', async () => {
  vi.useRealTimers()
  const chosen = (servers: string[] | null): LogFact => ({
    kind: 'control',
    fact: { type: 'settings-chosen', servers: servers as ServerName[] | null },
  })
  const offered = async (...facts: LogFact[]): Promise<number> =>
    (await request(1_000_000, ...facts, ...message('hello'))).tools.length
  expect(await offered(chosen(['s']))).toBe(60)
  expect(await offered(chosen(['other']))).toBe(0)
  expect(await offered(chosen([]))).toBe(0)
  expect(await offered(chosen([]), chosen(null))).toBe(60)
})

test.each([
  ['no entries are lost', [], 5, 5],
  ['only earlier entries are lost', [range(3, 9)], 12, 12],
  ['later entries are lost', [range(3, 9)], 3, 9],
  ['later entries are lost twice', [range(5, 9), range(9, 20)], 5, 20],
])('a generation gets an unused id when %s', (_, lost, fence, number) => {
  // nextGeneration uses only these members.
  const bus = { sessions: { lostRanges: lost } } as unknown as TurnDeps['bus']
  const view = { state: { fence } } as unknown as ClaimedTurn['view']
  expect(nextGeneration({ bus }, { session, view })).toBe(generationId(session, number))
})

function range(after: number, through: number): LostRange {
  return { after, through, at: 0 }
}
