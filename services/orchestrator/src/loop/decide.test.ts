import type {
  ApprovalRequired,
  ContentBlock,
  ErrorInfo,
  Generation,
  GenerationId,
  GenerationResult,
  InputAnswered,
  QuestionEnd,
  ToolCall,
  ToolCallBlock,
  ToolFinished,
  Turn,
} from '@mcp-host/contracts'
import { toolCallId } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import type { Rules, Step } from './decide.ts'
import { decide, diesTooOften } from './decide.ts'

const limits = {
  maxToolCalls: 3,
  maxTurnMs: 1_000,
  maxTurnTokens: 50,
  llmRetries: 2,
  llmRetryMs: 10,
  maxResultTokens: 100,
  maxSessionToolCalls: 0,
  maxOfferedTools: 100,
  maxHistoryLength: 0,
  summarizationThreshold: 85,
  retainNewestMessages: 0,
  approvalTimeoutMs: 1_000,
}

/** All begins at 100 and is looked at then. */
function next(
  given: Turn,
  changed: Partial<typeof limits> = {},
  { cancelledAt, ...rules }: Partial<Rules> & { cancelledAt?: number } = {},
): Step {
  const input = cancelledAt === undefined ? {} : { cancelledAt }
  const all = { limits: { ...limits, ...changed }, needsApproval: () => false, now: 100, ...rules }
  return decide(given, input, all)
}

function turn(...generations: Generation[]): Turn {
  return {
    input: 1,
    orchestrator: 'o1',
    epoch: 1,
    claimedSeq: 2,
    activeSince: 100,
    idleClaims: 0,
    generations,
    usage: [],
  }
}

/** A generation that is over, and had asked for these calls. */
function generation(
  name: string,
  calls: ToolCall[] = [],
  result?: Partial<GenerationResult>,
): Generation {
  const id = `session-${name}` as GenerationId
  const content: ContentBlock[] = []
  return {
    id,
    turn: 1,
    startedAt: 100,
    endedAt: 100,
    isVoid: false,
    result: {
      generation: id,
      outcome: 'completed',
      content,
      provider: 'demo',
      model: 'm',
      ...result,
    },
    resultSeq: 5,
    calls: new Map(calls.map((each) => [each.block.id, each])),
  }
}

function running(name: string): Generation {
  const { result: _, ...rest } = generation(name)
  return rest
}

let count = 0
function call(block: Partial<ToolCallBlock> = {}): ToolCall {
  const id = toolCallId('session-0' as GenerationId, count++)
  const known = { name: 'test__echo', server: 'test', tool: 'echo', arguments: {} }
  return { block: { type: 'tool-call', id, ...known, ...block }, attempt: 0, starts: [] }
}

function answered(): ToolCall {
  const open = call()
  const result: ToolFinished = {
    type: 'tool-finished',
    call: open.block.id,
    server: 'test',
    tool: 'echo',
    outcome: 'ok',
    content: [],
    durationMs: 1,
  }
  return { ...open, attempt: 1, result }
}

function settled(): ToolCall {
  return { ...call(), settled: { outcome: 'refused', message: 'no', time: 100 } }
}

function unknownTool(): ToolCall {
  const { block, ...rest } = call({ name: 'imagined' })
  const { server: _server, tool: _tool, ...without } = block
  return { ...rest, block: without }
}

describe('the next step', () => {
  test('of a turn without a generation is to start one', () => {
    expect(next(turn())).toEqual({ type: 'generate', withTools: true })
  })

  test('is to wait for a generation that runs', () => {
    const now = running('a')
    expect(next(turn(now))).toEqual({
      type: 'await-generation',
      generation: now,
      withTools: true,
    })
  })

  test('after an answer without calls is the end', () => {
    const step = next(turn(generation('a')))
    expect(step).toEqual({ type: 'finish', outcome: 'completed' })
  })

  test('is to run all open calls of a reply, and only those', () => {
    const [one, two] = [call(), call()]
    const reply = generation('a', [one, answered(), two])
    const step = next(turn(reply))
    expect(step).toEqual({ type: 'run-tools', generation: reply, calls: [one, two] })
  })

  test('after the last answer of a tool is to go on', () => {
    const step = next(turn(generation('a', [answered(), settled()])))
    expect(step).toEqual({ type: 'generate', withTools: true })
  })

  test('looks at the last generation only', () => {
    const now = running('b')
    const step = next(turn(generation('a', [answered()]), now))
    expect(step).toMatchObject({ type: 'await-generation', generation: now })
  })
})

describe('a generation that was given up', () => {
  test('does not count, whatever it has', () => {
    const dead = { ...generation('a'), isVoid: true }
    expect(next(turn(dead))).toEqual({ type: 'generate', withTools: true })
  })

  test('leaves its calls out of the limit', () => {
    const dead = { ...generation('a', [call(), call(), call()]), isVoid: true }
    const now = running('b')
    expect(next(turn(dead, now))).toMatchObject({ generation: now, withTools: true })
  })
})

describe('a call is refused without reaching a server', () => {
  test('when there is no such tool', () => {
    const bad = unknownTool()
    const step = next(turn(generation('a', [call(), bad])))
    expect(step).toEqual({
      type: 'settle',
      call: bad,
      message: expect.stringContaining('there is no tool "imagined"'),
    })
  })

  test.each([['text'], [null], [7], [['a']]])('when its arguments are %j, no object', (given) => {
    const bad = call({ arguments: given })
    expect(next(turn(generation('a', [bad])))).toEqual({
      type: 'settle',
      call: bad,
      message:
        'the arguments of "test__echo" must be a JSON object of at most 256 levels; what you wrote is not.',
    })
  })

  test('when the turn has made all the calls it may, counted over its replies', () => {
    const past = generation('a', [answered(), settled()])
    const [last, over] = [call(), call()]
    const step = next(turn(past, generation('b', [last, over])))
    expect(step).toEqual({
      type: 'settle',
      call: over,
      message: expect.stringContaining('this turn may make 3 tool calls'),
    })
  })

  test('and what it was told is not told again', () => {
    const reply = generation('a', [
      { ...unknownTool(), settled: { outcome: 'refused', message: '', time: 100 } },
    ])
    expect(next(turn(reply))).toEqual({ type: 'generate', withTools: true })
  })
})

describe('the limit of tool calls', () => {
  test('lets the last allowed call run', () => {
    const past = generation('a', [answered(), answered()])
    const last = call()
    const step = next(turn(past, generation('b', [last])))
    expect(step).toMatchObject({ type: 'run-tools', calls: [last] })
  })

  test('once reached lets the model answer without tools', () => {
    const past = generation('a', [answered(), answered(), answered()])
    expect(next(turn(past))).toEqual({ type: 'generate', withTools: false })
    expect(next(turn(past, running('b')))).toMatchObject({ withTools: false })
  })

  test('ends the turn when the model calls all the same', () => {
    const past = generation('a', [answered(), answered(), answered()])
    expect(next(turn(past, generation('b', [settled()])))).toMatchObject({
      type: 'finish',
      outcome: 'limit',
      error: { code: 'exhausted', message: expect.stringContaining('more than 3 tool calls') },
    })
  })

  test('of none never offers a tool', () => {
    expect(next(turn(), { maxToolCalls: 0 })).toEqual({ type: 'generate', withTools: false })
  })
})

describe('a model that failed', () => {
  const failed = (code: ErrorInfo['code'], more: Partial<ErrorInfo> = {}): Generation =>
    generation('a', [], { outcome: 'failed', error: { code, message: 'busy', ...more } })
  const gone = (one: Generation): Generation => ({ ...one, isVoid: true })

  test('is asked again, each time after twice as long, and not for ever', () => {
    const one = failed('unavailable')
    const again = { voids: one, reason: 'busy', at: 110, attempt: 1 }
    expect(next(turn(one))).toEqual({ type: 'generate', withTools: true, again })
    const later = next(turn(gone(one), one))
    expect(later).toMatchObject({ again: { at: 120, attempt: 2 } })
    expect(next(turn(gone(one), gone(one), one))).toMatchObject({
      type: 'finish',
      outcome: 'failed',
      error: { code: 'unavailable', message: 'busy', attempt: 3, recovery: 'tell-user' },
      message: expect.stringContaining('busy'),
    })
  })

  test('is asked as often again after each reply that came', () => {
    const one = failed('exhausted')
    const reply = generation('b', [answered()])
    const step = next(turn(gone(one), gone(one), reply, one))
    expect(step).toMatchObject({ type: 'generate', again: { at: 110 } })
  })

  test.each(['denied', 'invalid', 'internal', 'unauthenticated'] as const)(
    'with %s is not asked again',
    (code) => {
      expect(next(turn(failed(code)))).toMatchObject({ type: 'finish', outcome: 'failed' })
    },
  )

  test('because of its length is asked again with less, not for ever', () => {
    const long = failed('invalid', { reason: 'context-overflow' })
    expect(next(turn(long))).toEqual({ type: 'shrink', generation: long, withTools: true })
    const often = Array.from({ length: 3 }, () => gone(long))
    expect(next(turn(...often, long))).toMatchObject({ type: 'finish', outcome: 'failed' })
  })

  test('after it had begun to write says so in a paragraph of its own', () => {
    const half = failed('denied')
    half.result?.content.push({ type: 'text', text: 'half' })
    expect(next(turn(half))).toMatchObject({ message: expect.stringMatching(/^\n\nI could not/) })
    expect(next(turn(failed('denied')))).toMatchObject({
      message: expect.stringMatching(/^I could not/),
    })
  })

  test('after tools had run says that what they did stays done', () => {
    const after = (one: ToolCall): Step => next(turn(generation('b', [one]), failed('denied')))
    const remembered = expect.stringContaining('What the tools did so far stays done')
    expect(after(answered())).toMatchObject({ message: remembered })
    expect(after({ ...settled(), attempt: 1 })).toMatchObject({ message: remembered })
    expect(after(settled())).not.toMatchObject({ message: remembered })
  })

  test('that nobody cancelled but says so has failed', () => {
    const step = next(turn(generation('a', [], { outcome: 'cancelled' })))
    expect(step).toMatchObject({ type: 'generate', again: { reason: 'the model broke off' } })
  })
})

test('workers may die over an answer some times, and since the last reply that came', () => {
  const dead = { ...running('a'), isVoid: true }
  const deaths = (times: number): Generation[] => Array.from({ length: times }, () => dead)
  expect(diesTooOften(turn(...deaths(5)))).toBe(false)
  expect(diesTooOften(turn(...deaths(5), running('b')))).toBe(true)
  expect(diesTooOften(turn(...deaths(5), generation('b', [answered()]), running('c')))).toBe(false)
})

describe('a turn is stopped', () => {
  test.each([
    ['before it began', turn()],
    ['while a model writes', turn(running('a'))],
    ['while tools run', turn(generation('a', [call()]))],
  ])('when its user cancels it %s', (_, given) => {
    expect(next(given, {}, { cancelledAt: 100 })).toEqual({ type: 'stop', outcome: 'cancelled' })
  })

  test('when it runs too long, if there is a limit', () => {
    expect(next(turn(running('a')), {}, { now: 1_100 })).toMatchObject({ type: 'await-generation' })
    expect(next(turn(running('a')), {}, { now: 1_101 })).toMatchObject({
      type: 'stop',
      outcome: 'limit',
      error: { code: 'deadline', message: expect.stringContaining('after 1 s') },
    })
    const unlimited = next(turn(running('a')), { maxTurnMs: 0 }, { now: 1e9 })
    expect(unlimited).toMatchObject({ type: 'await-generation' })
  })

  test('when its models have written too much, if there is a limit', () => {
    const wordy = (outputTokens: number): Turn => ({
      ...turn(generation('a', [answered()])),
      usage: [
        { provider: 'p', model: 'm', generations: 1, outputTokens },
        { provider: 'p', model: 'n', generations: 1, outputTokens: 20 },
      ],
    })
    expect(next(wordy(29))).toMatchObject({ type: 'generate' })
    expect(next(wordy(30))).toMatchObject({
      type: 'stop',
      outcome: 'limit',
      error: { code: 'exhausted' },
    })
    expect(next(wordy(30), { maxTurnTokens: 0 })).toMatchObject({ type: 'generate' })
  })
})

describe('a call that needs permission', () => {
  const rules = { needsApproval: ({ tool }: ToolCallBlock) => tool === 'delete' }
  const risky = (end?: QuestionEnd): ToolCall => {
    const one = call({ tool: 'delete' })
    const asked: ApprovalRequired = {
      type: 'approval-required',
      turn: 1,
      seen: 0,
      call: one.block.id,
      server: 'test',
      tool: 'delete',
      id: 'q',
      message: 'may it?',
      arguments: {},
      expiresAt: 500,
    }
    return { ...one, approval: end === undefined ? { asked } : { asked, end } }
  }
  const answer = (action: InputAnswered['action']): QuestionEnd => ({
    state: 'answered',
    by: 'ann',
    seq: 9,
    answer: { type: 'input-answered', id: 'q', action },
  })

  test('is asked for before anything runs', () => {
    const [harmless, one] = [call(), call({ tool: 'delete' })]
    const step = next(turn(generation('a', [harmless, one])), {}, rules)
    expect(step).toEqual({ type: 'ask', call: one })
  })

  test('lets the others run, then is waited for', () => {
    const harmless = call()
    const both = next(turn(generation('a', [harmless, risky()])), {}, rules)
    expect(both).toMatchObject({ type: 'run-tools', calls: [harmless] })
    const alone = next(turn(generation('a', [answered(), risky()])), {}, rules)
    expect(alone).toEqual({ type: 'wait', until: 500 })
  })

  test('runs once it has it', () => {
    const one = risky(answer('accept'))
    expect(next(turn(generation('a', [one])), {}, rules)).toMatchObject({
      type: 'run-tools',
      calls: [one],
    })
  })

  test.each(['decline', 'cancel'] as const)(
    'does not run after %s, and the model is told',
    (action) => {
      expect(next(turn(generation('a', [risky(answer(action))])), {}, rules)).toMatchObject({
        type: 'settle',
        message: expect.stringContaining('did not allow'),
      })
    },
  )

  test('does not run when nobody answers in time', () => {
    const given = turn(generation('a', [risky()]))
    expect(next(given, {}, { ...rules, now: 499 })).toMatchObject({ type: 'wait' })
    expect(next(given, {}, { ...rules, now: 500 })).toMatchObject({
      type: 'settle',
      message: expect.stringContaining('in time'),
    })
  })

  test('is not asked for again once it was started', () => {
    const one = { ...call({ tool: 'delete' }), attempt: 1 }
    expect(next(turn(generation('a', [one])), {}, rules)).toMatchObject({ type: 'run-tools' })
  })
})

test('a tool of the host itself is answered by it', () => {
  const own = call({ server: 'result', tool: 'read' })
  expect(next(turn(generation('a', [own])))).toEqual({ type: 'answer', call: own })
})
