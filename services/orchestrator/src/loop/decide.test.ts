import type {
  ApprovalRequired,
  ContentBlock,
  ErrorInfo,
  GenerationId,
  GenerationResult,
  InputAnswered,
  ToolCallBlock,
  ToolFinished,
} from '@mcp-host/contracts'
import type { Generation, QuestionEnd, ToolCall, Turn } from '@mcp-host/session-state'
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

/** The next step of a turn that began at 100, decided at 100. */
function next(
  current: Turn,
  changed: Partial<typeof limits> = {},
  { cancelledAt, ...rules }: Partial<Rules> & { cancelledAt?: number } = {},
): Step {
  const input = cancelledAt === undefined ? {} : { cancelledAt }
  const allRules = {
    limits: { ...limits, ...changed },
    effectOf: () => 'allow' as const,
    usesServer: () => true,
    isRunning: () => false,
    now: 100,
    ...rules,
  }
  return decide(current, input, allRules)
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

/** A completed generation with these calls. */
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

function stopped(): ToolCall {
  return { ...call(), cancelledAt: 100 }
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

describe('next steps', () => {
  test('a turn without a generation starts one', () => {
    expect(next(turn())).toEqual({ type: 'generate', withTools: true })
  })

  test('a turn with a running generation waits for it', () => {
    const now = running('a')
    expect(next(turn(now))).toEqual({
      type: 'await-generation',
      generation: now,
      withTools: true,
    })
  })

  test('a turn ends after a reply without calls', () => {
    const step = next(turn(generation('a')))
    expect(step).toEqual({ type: 'finish', outcome: 'completed' })
  })

  test('a turn runs all open calls of its last reply', () => {
    const [one, two] = [call(), call()]
    const reply = generation('a', [one, answered(), two])
    const step = next(turn(reply))
    expect(step).toEqual({ type: 'run-tools', generation: reply, calls: [one, two] })
  })

  test('a turn starts another generation after the last result of a call', () => {
    const step = next(turn(generation('a', [answered(), settled()])))
    expect(step).toEqual({ type: 'generate', withTools: true })
  })

  test('only the last generation decides the next step', () => {
    const now = running('b')
    const step = next(turn(generation('a', [answered()]), now))
    expect(step).toMatchObject({ type: 'await-generation', generation: now })
  })
})

describe('void generations', () => {
  test('a void generation does not end a turn', () => {
    const dead = { ...generation('a'), isVoid: true }
    expect(next(turn(dead))).toEqual({ type: 'generate', withTools: true })
  })

  test('calls of a void generation do not count against the limit', () => {
    const dead = { ...generation('a', [call(), call(), call()]), isVoid: true }
    const now = running('b')
    expect(next(turn(dead, now))).toMatchObject({ generation: now, withTools: true })
  })
})

describe('calls that are refused without a server', () => {
  test('a call of an unknown tool is settled with a message', () => {
    const bad = unknownTool()
    const step = next(turn(generation('a', [call(), bad])))
    expect(step).toEqual({
      type: 'settle',
      call: bad,
      message: expect.stringContaining('there is no tool "imagined"'),
    })
  })

  test.each([['text'], [null], [7], [['a']]])(
    'a call with the arguments %j instead of an object is settled with a message',
    (args) => {
      const bad = call({ arguments: args })
      expect(next(turn(generation('a', [bad])))).toEqual({
        type: 'settle',
        call: bad,
        message:
          'the arguments of "test__echo" must be a JSON object of at most 256 levels; what you wrote is not.',
      })
    },
  )

  test('a call beyond the limit of its turn is settled with a message', () => {
    const earlier = generation('a', [answered(), settled()])
    const [last, excess] = [call(), call()]
    const step = next(turn(earlier, generation('b', [last, excess])))
    expect(step).toEqual({
      type: 'settle',
      call: excess,
      message: expect.stringContaining('this turn may make 3 tool calls'),
    })
  })

  test('a settled call is not settled again', () => {
    const reply = generation('a', [
      { ...unknownTool(), settled: { outcome: 'refused', message: '', time: 100 } },
    ])
    expect(next(turn(reply))).toEqual({ type: 'generate', withTools: true })
  })
})

describe('limits of tool calls', () => {
  test('the last call within the limit runs', () => {
    const earlier = generation('a', [answered(), answered()])
    const last = call()
    const step = next(turn(earlier, generation('b', [last])))
    expect(step).toMatchObject({ type: 'run-tools', calls: [last] })
  })

  test('a turn at its limit of calls generates without tools', () => {
    const earlier = generation('a', [answered(), answered(), answered()])
    expect(next(turn(earlier))).toEqual({ type: 'generate', withTools: false })
    expect(next(turn(earlier, running('b')))).toMatchObject({ withTools: false })
  })

  test('a call of a model that was offered no tools ends the turn', () => {
    const earlier = generation('a', [answered(), answered(), answered()])
    expect(next(turn(earlier, generation('b', [settled()])))).toMatchObject({
      type: 'finish',
      outcome: 'limit',
      error: { code: 'exhausted', message: expect.stringContaining('more than 3 tool calls') },
    })
  })

  test('a call of a server that the session does not use is refused, unless it has begun', () => {
    const usesServer = (server: string): boolean => server !== 'test'
    const open = call()
    expect(next(turn(generation('a', [open])), {}, { usesServer })).toEqual({
      type: 'settle',
      call: open,
      message: expect.stringContaining('switched off the tools of "test"'),
    })
    const begun = { ...call(), attempt: 1 }
    expect(next(turn(generation('a', [begun])), {}, { usesServer })).toMatchObject({
      type: 'run-tools',
    })
    // It was sent to a supervisor, whose start of it may not be in the log yet.
    const sent = { usesServer, effectOf: () => 'deny' as const, isRunning: () => true }
    expect(next(turn(generation('a', [open])), {}, sent)).toMatchObject({ type: 'run-tools' })
    const search = call({ server: 'result', tool: 'find-tools' })
    expect(next(turn(generation('a', [search])), {}, { usesServer: () => false })).toMatchObject({
      type: 'answer',
    })
  })

  test('a limit of zero calls offers no tools', () => {
    expect(next(turn(), { maxToolCalls: 0 })).toEqual({ type: 'generate', withTools: false })
  })
})

describe('failed models', () => {
  const failed = (code: ErrorInfo['code'], more: Partial<ErrorInfo> = {}): Generation =>
    generation('a', [], { outcome: 'failed', error: { code, message: 'busy', ...more } })
  const voided = (one: Generation): Generation => ({ ...one, isVoid: true })

  test('a failed model is retried with exponential backoff up to a limit', () => {
    const one = failed('unavailable')
    const again = { voids: one, reason: 'busy', at: 110, attempt: 1 }
    expect(next(turn(one))).toEqual({ type: 'generate', withTools: true, again })
    const later = next(turn(voided(one), one))
    expect(later).toMatchObject({ again: { at: 120, attempt: 2 } })
    expect(next(turn(voided(one), voided(one), one))).toMatchObject({
      type: 'finish',
      outcome: 'failed',
      error: { code: 'unavailable', message: 'busy', attempt: 3, recovery: 'tell-user' },
      message: expect.stringContaining('busy'),
    })
  })

  test('a reply resets the retries of a model', () => {
    const one = failed('exhausted')
    const reply = generation('b', [answered()])
    const step = next(turn(voided(one), voided(one), reply, one))
    expect(step).toMatchObject({ type: 'generate', again: { at: 110 } })
  })

  test.each(['denied', 'invalid', 'internal', 'unauthenticated'] as const)(
    'a model that failed with %s is not retried',
    (code) => {
      expect(next(turn(failed(code)))).toMatchObject({ type: 'finish', outcome: 'failed' })
    },
  )

  test('a context overflow is retried with a shorter prompt up to a limit', () => {
    const long = failed('invalid', { reason: 'context-overflow' })
    expect(next(turn(long))).toEqual({ type: 'shrink', generation: long, withTools: true })
    const earlier = Array.from({ length: 3 }, () => voided(long))
    expect(next(turn(...earlier, long))).toMatchObject({ type: 'finish', outcome: 'failed' })
  })

  test('the message of a failure after partial text is a separate paragraph', () => {
    const half = failed('denied')
    half.result?.content.push({ type: 'text', text: 'half' })
    expect(next(turn(half))).toMatchObject({ message: expect.stringMatching(/^\n\nI could not/) })
    expect(next(turn(failed('denied')))).toMatchObject({
      message: expect.stringMatching(/^I could not/),
    })
  })

  test('the message of a failure after tool calls states that their effects remain', () => {
    const stepAfter = (one: ToolCall): Step => next(turn(generation('b', [one]), failed('denied')))
    const note = expect.stringContaining('What the tools did so far stays done')
    expect(stepAfter(answered())).toMatchObject({ message: note })
    expect(stepAfter({ ...settled(), attempt: 1 })).toMatchObject({ message: note })
    expect(stepAfter(settled())).not.toMatchObject({ message: note })
  })

  test('a generation that ends as cancelled without a cancel is retried', () => {
    const step = next(turn(generation('a', [], { outcome: 'cancelled' })))
    expect(step).toMatchObject({ type: 'generate', again: { reason: 'the model broke off' } })
  })
})

test('the deaths of workers are counted since the last reply', () => {
  const dead = { ...running('a'), isVoid: true }
  const deaths = (times: number): Generation[] => Array.from({ length: times }, () => dead)
  expect(diesTooOften(turn(...deaths(5)))).toBe(false)
  expect(diesTooOften(turn(...deaths(5), running('b')))).toBe(true)
  expect(diesTooOften(turn(...deaths(5), generation('b', [answered()]), running('c')))).toBe(false)
})

describe('stopped turns', () => {
  test.each([
    ['before its first generation', turn()],
    ['while a model writes', turn(running('a'))],
    ['while tools run', turn(generation('a', [call()]))],
  ])('a turn that is cancelled %s is stopped', (_, current) => {
    expect(next(current, {}, { cancelledAt: 100 })).toEqual({ type: 'stop', outcome: 'cancelled' })
  })

  test('a turn is stopped after maxTurnMs, if that is set', () => {
    expect(next(turn(running('a')), {}, { now: 1_100 })).toMatchObject({ type: 'await-generation' })
    expect(next(turn(running('a')), {}, { now: 1_101 })).toMatchObject({
      type: 'stop',
      outcome: 'limit',
      error: { code: 'deadline', message: expect.stringContaining('after 1 s') },
    })
    const unlimited = next(turn(running('a')), { maxTurnMs: 0 }, { now: 1e9 })
    expect(unlimited).toMatchObject({ type: 'await-generation' })
  })

  test('a turn is stopped at maxTurnTokens, if that is set', () => {
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

describe('calls that need approval', () => {
  const rules = { effectOf: ({ tool }: ToolCallBlock) => (tool === 'delete' ? 'approve' : 'allow') }
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

  test('approval is requested before any call of the reply runs', () => {
    const [harmless, one] = [call(), call({ tool: 'delete' })]
    const step = next(turn(generation('a', [harmless, one])), {}, rules)
    expect(step).toEqual({ type: 'ask', call: one })
  })

  test('other calls run before the turn waits for an approval', () => {
    const harmless = call()
    const both = next(turn(generation('a', [harmless, risky()])), {}, rules)
    expect(both).toMatchObject({ type: 'run-tools', calls: [harmless] })
    const alone = next(turn(generation('a', [answered(), risky()])), {}, rules)
    expect(alone).toEqual({ type: 'wait', until: 500 })
  })

  test('an approved call runs', () => {
    const one = risky(answer('accept'))
    expect(next(turn(generation('a', [one])), {}, rules)).toMatchObject({
      type: 'run-tools',
      calls: [one],
    })
  })

  test('a call that the policy denies while the user is asked does not run', () => {
    for (const one of [risky(), risky(answer('accept'))]) {
      expect(next(turn(generation('a', [one])), {}, { effectOf: () => 'deny' })).toMatchObject({
        type: 'settle',
        call: one,
        isDenied: true,
      })
    }
  })

  test.each(['decline', 'cancel'] as const)(
    'a call is settled with a message after %s',
    (action) => {
      expect(next(turn(generation('a', [risky(answer(action))])), {}, rules)).toMatchObject({
        type: 'settle',
        message: expect.stringContaining('did not allow'),
        isDenied: true,
      })
    },
  )

  test('a call without approval in time is settled with a message', () => {
    const current = turn(generation('a', [risky()]))
    expect(next(current, {}, { ...rules, now: 499 })).toMatchObject({ type: 'wait' })
    expect(next(current, {}, { ...rules, now: 500 })).toMatchObject({
      type: 'settle',
      message: expect.stringContaining('in time'),
      isDenied: true,
    })
  })

  test('approval is not requested for a call that was started', () => {
    const one = { ...call({ tool: 'delete' }), attempt: 1 }
    expect(next(turn(generation('a', [one])), {}, rules)).toMatchObject({ type: 'run-tools' })
  })
})

test('a call that its user stopped ends before others begin, whatever it waits for', () => {
  const [other, begun, waiting] = [call(), { ...stopped(), attempt: 1 }, stopped()]
  expect(next(turn(generation('0', [other, begun])))).toEqual({ type: 'stop-call', call: begun })
  const asks = { effectOf: () => 'approve' as const }
  const step = next(turn(generation('0', [waiting, other])), {}, asks)
  expect(step).toEqual({ type: 'stop-call', call: waiting })
})

test('a call of a built-in tool is answered by the orchestrator', () => {
  const own = call({ server: 'result', tool: 'read' })
  expect(next(turn(generation('a', [own])))).toEqual({ type: 'answer', call: own })
})

test('a call that the policy denies is settled without asking or running it', () => {
  const denied = call({ tool: 'delete' })
  const step = next(turn(generation('a', [denied])), {}, { effectOf: () => 'deny' })
  expect(step).toMatchObject({
    type: 'settle',
    call: denied,
    message: expect.stringContaining('the policy of this host does not allow this call'),
    isDenied: true,
  })
})
