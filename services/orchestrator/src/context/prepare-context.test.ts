import type {
  ContextCompacted,
  LogFact,
  OfferedTool,
  PromptMessage,
  Usage,
} from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { BusError, generationControl, sample } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import {
  append,
  call,
  claim,
  compacted,
  done,
  envelope,
  finished,
  fold,
  input,
  next,
  result,
  session,
  text,
} from './__fixtures__/facts.ts'
import { promptTokens } from './estimate-tokens.ts'
import type { ContextDeps, ContextTurn } from './prepare-context.ts'
import { needsWholeLog, prepareContext } from './prepare-context.ts'
import { transcript } from './transcript.ts'

/** The context of the model, of which a quarter is left for the answer: 3,000 tokens for the conversation. */
const CONTEXT_TOKENS = 4_000

const LIMITS = {
  maxResultTokens: 1_000,
  maxHistoryLength: 0,
  summarizationThreshold: 85,
  retainNewestMessages: 0,
}

let deps: ContextDeps
let state: SessionState
/** Facts that were appended. */
let written: Omit<ContextCompacted, 'turn' | 'seen'>[]
/** Compactions that the metrics count. */
let counted: string[]
let logged: Record<string, unknown>[]
/** Requests on the bus. */
let requests: { subject: string; params: unknown; request: unknown }[]
/** The answer of the model to a request for a summary. */
let summary: () => Promise<string>
let cancelled: AbortController
beforeEach(() => {
  written = []
  counted = []
  logged = []
  requests = []
  summary = async () => 'they met'
  cancelled = new AbortController()
  const log = (fields: Record<string, unknown>): number => logged.push(fields)
  deps = {
    bus: {
      async call(contract: { subject: string }, params: unknown, request: unknown) {
        requests.push({ subject: contract.subject, params, request })
        if (contract.subject !== sample.subject) return { worker: 'w' }
        const usage = { outputTokens: 3 }
        const content = { type: 'text', text: await summary() }
        return { provider: 'p', model: 'm', usage, content }
      },
      // Summaries use only this method.
    } as unknown as ContextDeps['bus'],
    logger: { info: log, warn: log },
    events: { contextCompacted: (how) => void counted.push(how) },
    limits: { contextTokens: CONTEXT_TOKENS, ...LIMITS },
    model: () => undefined,
    systemPrompt: '',
  }
})

/** A text of about `count` tokens. */
const words = (count: number): string => 'word '.repeat(count)

/** A turn with one call and its answer, in seven entries from sequence `seq` on. */
function turnWith(seq: number, sizes: { result?: number; reply?: number } = {}): LogFact[] {
  return [
    input(`m${seq}`, `ask ${seq}`),
    claim(seq, seq),
    result(seq, [call(seq)]),
    finished(call(seq), [text(words(sizes.result ?? 1))]),
    next(seq, seq + 1),
    result(seq + 1, [text(`reply ${seq} ${words(sizes.reply ?? 1)}`)]),
    done(seq),
  ]
}

/** The message of the running turn, after `turns` others. */
function running(turns: number): LogFact[] {
  const seq = turns * 7 + 1
  return [input('now', 'and now'), claim(seq, seq)]
}

function prepare(force = false, tools: OfferedTool[] = []): Promise<PromptMessage[]> {
  const never = new AbortController().signal
  const current = state.inputs.get(state.messageIds.get('now') ?? 0)?.seq ?? 0
  const turn: ContextTurn = {
    session,
    input: current,
    envelope,
    view: { state },
    writer: {
      async append(fact) {
        written.push(fact)
        append(state, { kind: 'turn', fact: { ...fact, turn: current, seen: 0 } })
      },
      folded: async () => undefined,
    },
    cancelled: cancelled.signal,
    leaving: never,
    over: never,
  }
  return prepareContext(deps, turn, tools, { force })
}

const size = (messages: PromptMessage[]): number => promptTokens(messages, [], '')
const results = (messages: PromptMessage[]): string[] =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.answers.map((answer) => answer.text.slice(0, 12)) : [],
  )

test('a conversation that fits is sent unchanged', async () => {
  state = fold(...turnWith(1, { result: 900 }), ...turnWith(8, { result: 900 }), ...running(2))
  expect(await prepare()).toEqual(transcript(state, 15, deps.limits))
  expect([written, requests]).toEqual([[], []])
})

test('results of all but the last two turns are cleared when the context fills up', async () => {
  const sizes = { result: 600 }
  state = fold(...[1, 8, 15, 22].flatMap((seq) => turnWith(seq, sizes)), ...running(4))
  expect(results(await prepare())).toEqual([
    '[the result ',
    '[the result ',
    'word word wo',
    'word word wo',
  ])
  const [event] = written
  expect(written).toEqual([
    {
      type: 'context-compacted',
      how: 'cleared',
      through: 10,
      tokensBefore: event?.tokensBefore,
      tokensAfter: event?.tokensAfter,
    },
  ])
  expect(event?.tokensBefore).toBeGreaterThan(0.7 * 3_000)
  expect(event?.tokensAfter).toBe(size(transcript(state, 29, deps.limits)))
  expect(counted).toEqual(['cleared'])
  expect(logged).toEqual([
    expect.objectContaining({ action: 'cleared', removed: 2, kept: 2, budget: 3_000 }),
  ])
})

test('results are not cleared again until enough others can be cleared', async () => {
  const sizes = { result: 600 }
  state = fold(...[1, 8, 15, 22].flatMap((seq) => turnWith(seq, sizes)), ...running(4))
  await prepare()
  const first = await prepare()
  expect(await prepare()).toEqual(first)
  expect(written).toHaveLength(1)
})

test('results are not cleared when that would save little, so that the cache of the provider stays valid', async () => {
  const large = { result: 900, reply: 150 }
  state = fold(
    ...turnWith(1, { result: 200 }),
    ...turnWith(8, large),
    ...turnWith(15, large),
    ...running(3),
  )
  await prepare()
  expect(written).toEqual([])
})

test('all but the newest turns are summarised when clearing results is not enough', async () => {
  const old = [1, 8, 15, 22].flatMap((seq) => turnWith(seq, { reply: 470 }))
  state = fold(...old, ...turnWith(29, { reply: 650 }), ...running(5))
  const messages = await prepare()
  const usage = { provider: 'p', model: 'm', generations: 1, outputTokens: 3 }
  expect(written).toMatchObject([{ how: 'summarised', through: 22, summary: 'they met', usage }])
  expect(messages[0]).toMatchObject({ text: expect.stringContaining('they met') })
  expect(JSON.stringify(messages)).toContain('reply 29')
  expect(JSON.stringify(messages)).not.toContain('reply 22')
  expect(messages.at(-1)).toEqual({ role: 'user', text: 'and now' })
  expect(requests).toHaveLength(1)
  const { messages: sent, id } = sample.request.parse(requests[0]?.request)
  expect(id).toBeDefined()
  expect(sent[0]?.content.text).toContain('Assistant: reply 1 word')
  expect(sent[0]?.content.text).not.toContain('reply 29')
  expect(logged).toEqual([expect.objectContaining({ action: 'summarised', removed: 16, kept: 5 })])
})

test('a summary is made of the summary before and the turns after it', async () => {
  state = fold(
    ...turnWith(1),
    ...turnWith(8, { reply: 2_700 }),
    ...running(2),
    compacted(15, 'summarised', 1, 'they were born'),
  )
  await prepare()
  const { messages: sent } = sample.request.parse(requests[0]?.request)
  expect(sent[0]?.content.text).toContain('they were born')
  expect(sent[0]?.content.text).toContain('reply 8')
  expect(written).toMatchObject([{ how: 'summarised', through: 8 }])
})

/** Texts that models were asked to summarise, in order. */
const summarisedTexts = (): string[] =>
  requests.map(({ request }) => sample.request.parse(request).messages[0]?.content.text ?? '')

test('a conversation that is longer than one request is summarised in several', async () => {
  const seqs = Array.from({ length: 20 }, (_, index) => index * 7 + 1)
  state = fold(...seqs.flatMap((seq) => turnWith(seq, { reply: 600 })), ...running(20))
  summary = async () => `summary ${requests.length}`
  const messages = await prepare()
  expect(size(messages)).toBeLessThan(0.85 * 3_000)
  expect(requests.length).toBeGreaterThan(2)
  const pieces = summarisedTexts()
  const lost = seqs.filter(
    (seq) => ![...pieces, JSON.stringify(messages)].some((each) => each.includes(`reply ${seq} `)),
  )
  expect(lost).toEqual([])
  expect(pieces.filter((piece) => piece.includes('[…]'))).toEqual([])
  expect(pieces[1]).toContain('summary 1')
  expect(messages[0]).toMatchObject({ text: expect.stringContaining(`summary ${requests.length}`) })
  expect(written.map(({ how }) => how)).toEqual(requests.map(() => 'summarised'))
  expect(await prepare()).toEqual(messages)
})

test('a summary covers only turns that the model has read', async () => {
  // A conversation far above the 60,000 tokens of one summary, and a context with room for the remainder.
  deps = { ...deps, limits: { ...LIMITS, contextTokens: 208_000 } }
  const seqs = Array.from({ length: 86 }, (_, index) => index * 7 + 1)
  state = fold(...seqs.flatMap((seq) => turnWith(seq, { reply: 2_000 })), ...running(86))
  const messages = await prepare()
  const [piece = ''] = summarisedTexts()
  const through = written[0]?.through ?? 0
  expect(written).toMatchObject([{ how: 'summarised' }])
  expect(seqs.filter((seq) => piece.includes(`reply ${seq} `)).at(-1)).toBe(through)
  expect(piece).not.toContain('[…]')
  expect(JSON.stringify(messages)).toContain(`reply ${through + 7} `)
})

test('a turn that is longer than one request is summarised from its beginning and end', async () => {
  state = fold(...turnWith(1, { reply: 20_000 }), ...running(1))
  await prepare()
  const { messages: sent } = sample.request.parse(requests[0]?.request)
  expect(size([{ role: 'user', text: sent[0]?.content.text ?? '' }])).toBeLessThan(3_000)
})

test('the earliest turns are dropped when no model can summarise', async () => {
  summary = () => Promise.reject(new BusError('internal', 'no'))
  state = fold(...turnWith(1, { reply: 3_000 }), ...running(1))
  const messages = await prepare()
  expect(written).toMatchObject([{ how: 'dropped', through: 1 }])
  expect(written[0]).not.toHaveProperty('summary')
  expect(messages).toHaveLength(2)
  expect(logged.map(({ action }) => action)).toEqual(['summarise', 'dropped'])
})

test('the earliest turns are left out of one prompt while all models are busy', async () => {
  summary = () => Promise.reject(new BusError('exhausted', 'busy'))
  state = fold(
    ...turnWith(1),
    ...turnWith(8, { reply: 3_000 }),
    ...running(2),
    compacted(15, 'summarised', 1, 'they were born'),
  )
  const messages = await prepare()
  expect([written, counted]).toEqual([[], []])
  expect(messages).toEqual([
    { role: 'user', text: expect.stringContaining('they were born') },
    { role: 'user', text: 'and now' },
  ])
  expect(logged.map(({ action }) => action)).toEqual(['summarise', 'left-out'])
  summary = async () => 'they met'
  const [first] = await prepare()
  expect(first).toMatchObject({ text: expect.stringContaining('they met') })
  expect(written).toMatchObject([{ how: 'summarised', through: 8 }])
})

test('turns that are left out stay out while results are cut', async () => {
  summary = () => Promise.reject(new BusError('exhausted', 'busy'))
  deps = { ...deps, limits: { ...LIMITS, contextTokens: CONTEXT_TOKENS, maxResultTokens: 4_000 } }
  state = fold(
    ...turnWith(1, { reply: 1_200 }),
    ...running(1),
    result(8, [call(8)]),
    finished(call(8), [text(words(3_100))]),
    next(8, 9),
  )
  const messages = await prepare()
  expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool'])
  expect(size(messages)).toBeLessThan(3_000)
  expect(logged.map(({ action }) => action)).toEqual(['summarise', 'left-out', 'cut'])
})

test('turns that are left out stay out while results of the running turn are cleared', async () => {
  summary = () => Promise.reject(new BusError('exhausted', 'busy'))
  const facts = [8, 9, 10, 11].flatMap((name) => [
    next(8, name),
    result(name, [call(name)]),
    finished(call(name), [text(words(900))]),
  ])
  state = fold(...turnWith(1, { reply: 1_200 }), ...running(1), ...facts)
  const messages = await prepare()
  expect(messages.slice(0, 2).map(({ role }) => role)).toEqual(['user', 'user'])
  expect(results(messages)).toEqual([
    '[the result ',
    '[the result ',
    '[the result ',
    'word word wo',
  ])
  expect(written).toMatchObject([{ how: 'cleared' }])
})

test('the earliest turns are dropped after an overflow while all models are busy', async () => {
  summary = () => Promise.reject(new BusError('deadline', 'late'))
  state = fold(...[1, 8, 15].flatMap((seq) => turnWith(seq, { reply: 300 })), ...running(3))
  const forced = await prepare(true)
  expect(written).toMatchObject([{ how: 'dropped' }])
  expect(await prepare()).toEqual(forced)
})

test('dropping turns keeps an earlier summary', async () => {
  summary = async () => ' '
  state = fold(
    ...turnWith(1),
    ...turnWith(8, { reply: 3_000 }),
    ...running(2),
    compacted(15, 'summarised', 1, 'they were born'),
  )
  await prepare()
  expect(written).toMatchObject([{ how: 'dropped', through: 8, summary: 'they were born' }])
})

test('a conversation that fits is sent unchanged when its summary fails', async () => {
  summary = () => Promise.reject(new BusError('internal', 'no'))
  state = fold(...turnWith(1, { reply: 2_700 }), ...running(1))
  expect(await prepare()).toEqual(transcript(state, 8, deps.limits))
  expect(requests).toHaveLength(1)
  expect(written).toEqual([])
})

test('a cancelled turn cancels its summary and does not wait for it', async () => {
  summary = async () => {
    cancelled.abort()
    return new Promise(() => undefined)
  }
  state = fold(...turnWith(1, { reply: 3_000 }), ...running(1))
  await prepare()
  expect(written).toEqual([])
  const { id: generation } = sample.request.parse(requests[0]?.request)
  expect(requests[1]).toEqual({
    subject: generationControl.subject,
    params: { generation },
    request: { action: 'cancel' },
  })
})

/** A running turn with one call per result of the given sizes, in sequence. */
function longTurn(...sizes: number[]): LogFact[] {
  return [
    input('now', 'and now'),
    claim(1, 1),
    ...sizes.flatMap((count, index) => [
      ...(index === 0 ? [] : [next(1, index + 1)]),
      result(index + 1, [call(index + 1)]),
      finished(call(index + 1), [text(words(count))]),
    ]),
  ]
}

test('all but the newest results of a running turn that is too long are cleared', async () => {
  state = fold(...longTurn(900, 900, 900, 900))
  expect(results(await prepare())).toEqual([
    '[the result ',
    '[the result ',
    '[the result ',
    'word word wo',
  ])
  expect(written).toMatchObject([{ how: 'cleared' }])
  expect(requests).toEqual([])
})

test('the newest result of a running turn is cut until the prompt fits', async () => {
  deps = { ...deps, limits: { ...LIMITS, contextTokens: 1_000, maxResultTokens: 900 } }
  state = fold(...longTurn(20, 880))
  const messages = await prepare()
  expect(size(messages)).toBeLessThan(750)
  expect(messages.at(-1)).toMatchObject({
    answers: [{ text: expect.stringContaining('left out here. Read on with result__read') }],
  })
  expect(logged).toMatchObject([{ action: 'cut', maxResultTokens: 450, budget: 750 }])
})

test("the provider's token count of a cut prompt is not used for the whole prompt", async () => {
  deps = { ...deps, limits: { ...LIMITS, contextTokens: 1_000, maxResultTokens: 900 } }
  state = fold(...longTurn(880))
  const sent = size(await prepare())
  for (const fact of [
    next(1, 2),
    result(2, [call(2)], { usage: { inputTokens: sent } }),
    finished(call(2), [text('fine')]),
  ]) {
    append(state, fact)
  }
  expect(size(await prepare())).toBeLessThan(750)
})

test('a summary that would save little is not requested', async () => {
  state = fold(...turnWith(1), input('now', words(2_700)), claim(8, 8))
  await prepare()
  expect(requests).toEqual([])
})

test('a single message that is too long fails its turn with a message for the user', async () => {
  state = fold(input('now', words(4_000)), claim(1, 1))
  await expect(prepare()).rejects.toMatchObject({
    name: 'TurnFailure',
    info: { code: 'exhausted', message: expect.stringContaining('has become too long') },
  })
})

test.each<[string, () => LogFact[]]>([
  [
    'earlier results',
    () => [...[1, 8, 15, 22].flatMap((seq) => turnWith(seq, { result: 300 })), ...running(4)],
  ],
  [
    'long answers',
    () => [...[1, 8, 15].flatMap((seq) => turnWith(seq, { reply: 300 })), ...running(3)],
  ],
  ['one result', () => longTurn(500)],
])('a prompt of %s is halved for good after an overflow', async (_, facts) => {
  state = fold(...facts())
  const before = size(await prepare())
  expect(written).toEqual([])
  const forced = size(await prepare(true))
  expect(forced).toBeLessThanOrEqual(before / 2)
  expect(size(await prepare())).toBe(forced)
})

/** A tool of about `tokens` tokens. */
const tool = (tokens: number): OfferedTool => ({
  safeName: 'a__b',
  server: 'a',
  tool: 'b',
  description: words(tokens),
  inputSchema: {},
})

test('an overflow halves the conversation, not tools and system prompt', async () => {
  state = fold(...turnWith(1, { reply: 200 }), ...running(1))
  const before = size(await prepare())
  expect(size(await prepare(true, [tool(1_000)]))).toBeLessThanOrEqual(before / 2)
})

test('a turn without room beside tools and system prompt fails with that reason', async () => {
  state = fold(...running(0))
  await expect(prepare(false, [tool(3_500)])).rejects.toMatchObject({
    info: { code: 'exhausted', message: expect.stringContaining('shorten SYSTEM_PROMPT') },
  })
})

test('a prompt that is shorter after an overflow, but not half as long, is sent', async () => {
  state = fold(...turnWith(1, { reply: 800 }), input('now', words(1_000)), claim(8, 8))
  const before = size(await prepare())
  expect(written).toEqual([])
  const forced = size(await prepare(true))
  expect(forced).toBeLessThan(before)
  expect(forced).toBeGreaterThan(before / 2)
  expect(size(await prepare())).toBe(forced)
})

test('a prompt that cannot be shortened after an overflow fails its turn', async () => {
  state = fold(input('now', words(300)), claim(1, 1))
  await expect(prepare(true)).rejects.toMatchObject({ info: { code: 'exhausted' } })
})

test.each<[string, Usage, number]>([
  ['a higher count', { inputTokens: 2_400 }, 1],
  ['a count that must be of another prompt', { inputTokens: 24_000 }, 0],
  ['an estimate of the worker', { inputTokens: 2_400, isEstimate: true }, 0],
])(
  '%s of tokens for the last prompt leads to the expected number of compactions',
  async (_, usage, steps) => {
    state = fold(
      ...[1, 8, 15].flatMap((seq) => turnWith(seq, { result: 500 })),
      ...running(3),
      result(22, [call(22)], { usage }),
      finished(call(22), [text('fine')]),
      next(22, 23),
    )
    await prepare()
    expect(written).toHaveLength(steps)
  },
)

test('the default budget is the context window of the model less room for the answer', async () => {
  state = fold(...turnWith(1, { reply: 2_700 }), ...running(1))
  const compactionsWith = async (contextWindow?: number): Promise<number> => {
    deps = {
      ...deps,
      limits: LIMITS,
      model: () => (contextWindow === undefined ? undefined : { contextWindow }),
    }
    await prepare()
    return written.length
  }
  expect(await compactionsWith()).toBe(0)
  expect(await compactionsWith(12_000)).toBe(0)
  expect(await compactionsWith(4_000)).toBe(1)
})

test('the whole log is needed for a branch with turns whose text was pruned from the state', () => {
  const facts = [...turnWith(1), ...turnWith(8), input('c', 'and now')]
  const pruned = (...more: LogFact[]): SessionState => {
    const folded = fold(...facts, ...more)
    const first = folded.inputs.get(1)
    if (first !== undefined) folded.inputs.set(1, { ...first, text: '' })
    folded.prunedThrough = 1
    return folded
  }
  expect(needsWholeLog(fold(...facts), 15)).toBe(false)
  expect(needsWholeLog(pruned(), 15)).toBe(true)
  expect(needsWholeLog(pruned(claim(15, 15), compacted(15, 'summarised', 1, 'x')), 15)).toBe(false)
  expect(needsWholeLog(pruned(input('d', 'new start', 'm1')), 16)).toBe(false)
})

/** The number of messages in the prompt, and of turns. */
async function promptSize(
  limits: Partial<typeof LIMITS>,
): Promise<[messages: number, turns: number]> {
  deps = { ...deps, limits: { contextTokens: 40_000, ...LIMITS, ...limits } }
  state = fold(...[1, 8, 15, 22].flatMap((seq) => turnWith(seq, { reply: 500 })), ...running(4))
  const messages = await prepare()
  return [messages.length, messages.filter(({ role }) => role === 'user').length]
}

test('a conversation beyond maxHistoryLength is summarised to leave room for further messages', async () => {
  expect(await promptSize({ maxHistoryLength: 17 })).toEqual([17, 5])
  expect(written).toEqual([])
  // The summary, one turn of four messages and the running message.
  expect(await promptSize({ maxHistoryLength: 12 })).toEqual([6, 3])
  expect(written).toMatchObject([{ how: 'summarised', through: 15 }])
})

test('a conversation is summarised above summarizationThreshold', async () => {
  expect(await promptSize({ summarizationThreshold: 10 })).toEqual([17, 5])
  deps = { ...deps, limits: { ...LIMITS, contextTokens: 6_000, summarizationThreshold: 40 } }
  await prepare()
  expect(written).toMatchObject([{ how: 'summarised' }])
})

test('retainNewestMessages of the newest messages stay beside a summary', async () => {
  const limits = { ...LIMITS, contextTokens: 4_000, summarizationThreshold: 50 }
  const through = async (retainNewestMessages: number): Promise<unknown> => {
    written = []
    deps = { ...deps, limits: { ...limits, retainNewestMessages } }
    state = fold(...[1, 8, 15, 22].flatMap((seq) => turnWith(seq, { reply: 500 })), ...running(4))
    await prepare()
    return written[0]?.through
  }
  expect(await through(0)).toBe(15)
  expect(await through(9)).toBe(8)
})
