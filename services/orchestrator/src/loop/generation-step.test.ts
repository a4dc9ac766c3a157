import type {
  GenerateRequest,
  Generation,
  LogFact,
  LostRange,
  OfferedTool,
} from '@mcp-host/contracts'
import { BusError, emptySession, generationId } from '@mcp-host/contracts'
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
/** What is left of a worker's last word. */
let fresh: number[]
beforeEach(() => {
  vi.useFakeTimers()
  waits = []
  pings = 0
  fresh = []
})
afterEach(() => void vi.useRealTimers())

const generation = { id: generationId(session, 1) } as Generation

/** Nothing comes into the log meanwhile, and no worker answers. */
async function watch(): Promise<unknown> {
  // Here and below only what watching uses.
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

test('nobody is asked after a generation while its worker says that it runs', async () => {
  fresh = [300, 500]
  expect(await watch()).toBe('news')
  expect([waits, pings]).toEqual([[300], 0])
})

test('one whose worker fell silent is asked for, and dead when nobody answers twice', async () => {
  fresh = [300]
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[300], 2])
})

test('one that was never heard of is given the time to be', async () => {
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[1_000], 2])
})

/** 60 tools of some 300 tokens each. */
const tools = Array.from({ length: 60 }, (_, index): OfferedTool => ({
  safeName: `t${index}`,
  server: 's',
  tool: `t${index}`,
  description: 'word '.repeat(300),
  inputSchema: { type: 'object' },
}))

/** What a worker is asked for after these facts. */
async function request(contextTokens: number, ...facts: LogFact[]): Promise<GenerateRequest> {
  const asked: GenerateRequest[] = []
  const deps = {
    bus: { call: async (_contract: unknown, _params: unknown, sent: never) => asked.push(sent) },
    logger: { info: () => undefined, warn: () => undefined },
    tools: { offered: async () => tools },
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
    // Only what preparing a generation uses.
  } as unknown as TurnDeps
  const never = new AbortController().signal
  const ends = { cancelled: never, leaving: never, over: never }
  const view = { state: fold(...facts) }
  const first = view.state.inputs.keys().next().value ?? 0
  const turn = { session, input: first, envelope, view, ...ends } as unknown as ClaimedTurn
  await requestGeneration(deps, turn, generation.id, true)
  return asked[0]!
}

const asks = (text: string): LogFact[] => [input('m', text), claim(1, 1)]
const names = ({ tools: offered }: GenerateRequest): string[] =>
  offered.map(({ safeName }) => safeName)

test('sixty tools that leave no room for the conversation are replaced by a search', async () => {
  vi.useRealTimers()
  const sent = await request(16_000, ...asks('hello'))
  expect(sent.messages).toEqual([{ role: 'user', text: 'hello' }])
  expect(names(sent)).toEqual(['find_tools'])
})

test('a message that leaves no room for tools is sent without them', async () => {
  vi.useRealTimers()
  const long = 'word '.repeat(700)
  const sent = await request(1_000, ...asks(long))
  expect(sent.messages).toEqual([{ role: 'user', text: long }])
  expect(names(sent)).toEqual([])
})

test('a model that finds the prompt too long again and again is offered no tools', async () => {
  vi.useRealTimers()
  const error = { code: 'invalid', message: 'too long', reason: 'context-overflow' } as const
  const overflow = (seq: number): LogFact[] => [
    result(seq, [], { outcome: 'failed', error }),
    next(1, seq + 1, seq, 'too long'),
  ]
  const begin = asks('hello')
  expect(names(await request(16_000, ...begin, ...overflow(1)))).toEqual(['find_tools'])
  expect(names(await request(16_000, ...begin, ...overflow(1), ...overflow(2)))).toEqual([])
})

test('a model is told the system prompt and the temperature of its session', async () => {
  vi.useRealTimers()
  const chosen = (settings: object): LogFact => ({
    kind: 'control',
    fact: { type: 'settings-chosen', ...settings },
  })
  const own = { systemPrompt: 'Be short.', temperature: 0.2 }
  expect(await request(16_000, chosen(own), ...asks('hello'))).toMatchObject({
    system: 'Be short.',
    temperature: 0.2,
  })
  const again = { systemPrompt: null, temperature: null }
  const sent = await request(16_000, chosen(own), chosen(again), ...asks('hello'))
  expect(sent).not.toHaveProperty('temperature')
  expect(sent).not.toHaveProperty('system')
})

test.each([
  ['nothing is lost', [], 5, 5],
  ['only what came before is lost', [range(3, 9)], 12, 12],
  ['what followed is lost', [range(3, 9)], 3, 9],
  ['what followed is lost twice', [range(5, 9), range(9, 20)], 5, 20],
])('a generation gets an id that was not given out when %s', (_, lost, fence, number) => {
  // Only what names an id.
  const bus = { sessions: { lostRanges: lost } } as unknown as TurnDeps['bus']
  const view = { state: { fence } } as unknown as ClaimedTurn['view']
  expect(nextGeneration({ bus }, { session, view })).toBe(generationId(session, number))
})

function range(after: number, through: number): LostRange {
  return { after, through, at: 0 }
}
