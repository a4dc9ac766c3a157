import type {
  GenerationId,
  GenerationResult,
  LogEntry,
  LogFact,
  SessionId,
  ToolFinished,
  TurnEvent,
} from '@mcp-host/contracts'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import { applyEntry } from './fold.ts'
import { nextInput } from './queue.ts'
import { fromSnapshot, toSnapshot } from './snapshot.ts'
import type { SessionState } from './session-state.ts'
import { branchOf, emptySession } from './session-state.ts'

const session = '0123456789abcdef' as SessionId
const envelope = newEnvelope('local')
const one = generationId(session, 0)
const two = generationId(session, 2)
const call = toolCallId(one, 0)

/** The entries of a log with these facts, with the sequences 10, 20, 30 … */
const log = (...facts: readonly LogFact[]): LogEntry[] =>
  facts.map((fact, index) => ({
    ...fact,
    session,
    envelope,
    seq: (index + 1) * 10,
    time: index + 1,
  }))

function fold(entries: readonly LogEntry[], state = emptySession()): SessionState {
  for (const entry of entries) applyEntry(state, entry)
  return state
}

const input = (id: string, text = id): LogFact => ({ kind: 'input', fact: { id, text } })

const replacement = (id: string, replaces: string): LogFact => ({
  kind: 'input',
  fact: { id, text: id, replaces },
})

const cancelled = (messageId?: string): LogFact => ({
  kind: 'control',
  fact: { type: 'cancel-requested', ...(messageId === undefined ? {} : { messageId }) },
})

const turnFact = (fact: TurnEvent): LogFact => ({ kind: 'turn', fact })

const turnClaimed = (turn: number, epoch: number, generation?: GenerationId): LogFact =>
  turnFact({
    type: 'turn-claimed',
    turn,
    seen: 0,
    messageId: 'm',
    orchestrator: `orchestrator-${epoch}`,
    epoch,
    ...(generation === undefined ? {} : { generation }),
  })

const generationStarted = (turn: number, generation: GenerationId, voids?: GenerationId): LogFact =>
  turnFact({
    type: 'generation-started',
    turn,
    seen: 0,
    generation,
    ...(voids === undefined ? {} : { voids }),
  })

const turnDone = (turn: number, voids?: GenerationId): LogFact =>
  turnFact({
    type: 'turn-done',
    turn,
    seen: 0,
    outcome: 'completed',
    ...(voids === undefined ? {} : { voids }),
  })

const toolSettled = (message: string): LogFact =>
  turnFact({
    type: 'tool-settled',
    turn: 10,
    seen: 0,
    call,
    tool: 't',
    outcome: 'refused',
    message,
  })

const result = (
  generation: GenerationId,
  text: string,
  outcome: GenerationResult['outcome'] = 'completed',
): LogFact => ({
  kind: 'generation',
  fact: {
    generation,
    outcome,
    content: [
      { type: 'text', text },
      { type: 'tool-call', id: toolCallId(generation, 0), name: text, arguments: {} },
    ],
    provider: 'p',
    model: 'm',
  },
})

const toolStarted = (attempt: number, of = call): LogFact => ({
  kind: 'tool',
  fact: { type: 'tool-started', call: of, attempt, supervisor: 's', nonce: 'n' },
})

const toolFinished = (text: string, of = call): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'tool-finished',
    call: of,
    server: 's',
    tool: 't',
    outcome: 'ok',
    content: [{ type: 'text', text }],
    durationMs: 1,
  },
})

const inputRequired = (id: string, attempt = 1, of = call): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'input-required',
    call: of,
    attempt,
    server: 's',
    tool: 't',
    id,
    kind: 'elicitation',
    mode: 'form',
    message: 'who?',
    requestedSchema: { type: 'object', properties: {} },
    expiresAt: 0,
  },
})

const inputAnswered = (id: string, name: string): LogFact => ({
  kind: 'control',
  fact: { type: 'input-answered', id, action: 'accept', content: { name } },
})

const inputClosed = (id: string, reason: 'expired' | 'withdrawn', of = call): LogFact => ({
  kind: 'tool',
  fact: { type: 'input-closed', call: of, id, reason },
})

describe('a user message', () => {
  test('a user message of a deleted session is cancelled', () => {
    const deleted: LogFact = { kind: 'control', fact: { type: 'session-deleted' } }
    const { inputs } = fold(log(input('a'), deleted, input('b')))
    const ends = Array.from(inputs.values(), ({ cancelledAt }) => cancelledAt !== undefined)
    expect(ends).toEqual([true, true])
  })

  test('a user message that was stored twice under one id is one message, the first', () => {
    const { inputs } = fold(log(input('a', 'first'), input('b'), input('a', 'again')))
    expect(Array.from(inputs)).toMatchObject([
      [10, { id: 'a', text: 'first', envelope }],
      [20, { id: 'b', text: 'b', envelope }],
    ])
  })

  describe('of another principal than the first', () => {
    const by = (principal: string, roles: string[], fact: LogFact): LogEntry[] =>
      log(fact).map((entry) => ({
        ...entry,
        envelope: newEnvelope({ id: principal, roles, scopes: ['admin'] }),
      }))
    const inOrder = (...entries: LogEntry[][]): LogEntry[] =>
      entries.flat().map((entry, index) => ({ ...entry, seq: (index + 1) * 10 }))

    test('is refused: it ends at once, is on no branch and cancels nothing', () => {
      const state = fold(
        inOrder(
          by('ann', ['user'], input('a')),
          by('bob', ['user'], replacement('b', 'a')),
          by('ann', ['user'], input('c')),
          by('ann', ['user'], { kind: 'input', fact: { id: 'd', text: 'd', follows: 'b' } }),
        ),
      )
      const { inputs } = state
      expect(inputs.get(20)).toMatchObject({ id: 'b', text: '', cancelledAt: 1 })
      expect(inputs.get(10)?.cancelledAt).toBeUndefined()
      expect(branchOf(state, 30).map(({ seq }) => seq)).toEqual([10, 30])
      expect(branchOf(state, 40).map(({ text }) => text)).not.toContain('b')
      expect([state.owner, state.head]).toEqual(['ann', 40])
      const kept = fromSnapshot(toSnapshot(state) ?? '')
      applyEntry(kept!, { ...by('bob', ['user'], input('e'))[0]!, seq: 50 })
      expect(kept?.inputs.get(50)).toMatchObject({ text: '', cancelledAt: 1 })
    })

    test('is accepted of an admin, who may also be the first', () => {
      const { inputs } = fold(
        inOrder(
          by('root', ['admin'], input('a')),
          by('ann', ['user'], input('b')),
          by('root', ['admin'], input('c')),
        ),
      )
      const texts = Array.from(inputs.values(), ({ text, cancelledAt }) => [text, cancelledAt])
      expect(texts).toEqual([
        ['a', undefined],
        ['b', undefined],
        ['c', undefined],
      ])
    })
  })

  test('a user message is next when all earlier messages are answered', () => {
    const state = emptySession()
    expect(nextInput(state)).toBeUndefined()
    const next = log(
      input('a'),
      input('b'),
      turnClaimed(10, 1, one),
      input('c'),
      turnDone(10),
      turnClaimed(20, 1, two),
      turnDone(20),
      turnClaimed(40, 1),
      turnDone(40),
    ).map((entry) => {
      applyEntry(state, entry)
      return nextInput(state)
    })
    expect(next).toEqual([10, 10, 10, 10, 20, 20, 40, 40, undefined])
  })
})

describe('a cancel', () => {
  const cancelTimes = (...facts: readonly LogFact[]) =>
    Array.from(fold(log(...facts)).inputs.values(), ({ cancelledAt }) => cancelledAt)

  test('a cancel of a message is stored once with its time, whether its turn runs or waits', () => {
    const before = [input('a'), input('b'), turnClaimed(10, 1, one)]
    expect(cancelTimes(...before, cancelled('a'), cancelled('a'))).toEqual([4, undefined])
    expect(cancelTimes(...before, cancelled('b'))).toEqual([undefined, 4])
  })

  test('a cancel without a message id cancels the current or the next turn', () => {
    const before = [input('a'), turnClaimed(10, 1, one), turnDone(10), input('b'), input('c')]
    expect(cancelTimes(...before, cancelled())).toEqual([undefined, 6, undefined])
  })

  test('a cancel of a finished or unknown turn changes nothing', () => {
    const before = [input('a'), turnClaimed(10, 1, one), turnDone(10), input('b')]
    expect(cancelTimes(...before, cancelled('a'), cancelled('x'))).toEqual([undefined, undefined])
    expect(cancelTimes(cancelled())).toEqual([])
  })

  test('deletion of a session cancels all its unfinished messages', () => {
    const deleted: LogFact = { kind: 'control', fact: { type: 'session-deleted' } }
    const before = [input('a'), turnClaimed(10, 1, one), turnDone(10), input('b'), input('c')]
    expect(cancelTimes(...before, deleted)).toEqual([undefined, 6, 6])
    expect(fold(log(...before, deleted)).isDeleted).toBe(true)
  })
})

test('a chosen model applies to later messages that name no model', () => {
  const chosen = (model?: string): LogFact => ({
    kind: 'control',
    fact: { type: 'model-chosen', ...(model === undefined ? {} : { model }) },
  })
  const named: LogFact = { kind: 'input', fact: { id: 'c', text: 'c', model: 'xai' } }
  const facts = [input('a'), chosen('demo'), input('b'), named, chosen(), input('d')]
  const { inputs } = fold(log(...facts))
  expect(Array.from(inputs.values(), ({ model }) => model)).toEqual([
    undefined,
    'demo',
    'xai',
    undefined,
  ])
})

describe('a branch', () => {
  const branch = (...facts: readonly LogFact[]) => {
    const state = fold(log(...facts))
    return branchOf(state, state.head).map(({ id }) => id)
  }

  test('a branch has the messages in order', () => {
    expect(branch()).toEqual([])
    expect(branch(input('a'), input('b'), input('a'), input('c'))).toEqual(['a', 'b', 'c'])
  })

  test('a replacement starts another branch at the place of its message', () => {
    const before = [input('a'), input('b'), input('c')]
    expect(branch(...before, replacement('B', 'b'))).toEqual(['a', 'B'])
    expect(branch(...before, replacement('B', 'b'), input('d'))).toEqual(['a', 'B', 'd'])
    expect(branch(...before, replacement('A', 'a'))).toEqual(['A'])
    expect(branch(...before, replacement('x', 'unknown'))).toEqual(['a', 'b', 'c', 'x'])
  })

  test('a message follows the newest one, or the one that it names', () => {
    const follower = (id: string, follows: string): LogFact => ({
      kind: 'input',
      fact: { id, text: id, follows },
    })
    const before = [input('a'), input('b'), replacement('B', 'b')]
    expect(branch(...before, follower('c', 'b'))).toEqual(['a', 'b', 'c'])
    expect(branch(...before, follower('c', 'b'), input('d'))).toEqual(['a', 'b', 'c', 'd'])
    expect(branch(...before, follower('c', 'unknown'))).toEqual(['a', 'B', 'c'])
  })

  test('a replacement cancels an unanswered message', () => {
    const { inputs } = fold(
      log(input('a'), turnClaimed(10, 1, one), turnDone(10), input('b'), replacement('B', 'b')),
    )
    expect(inputs.get(40)?.cancelledAt).toBe(5)
    expect(
      fold(
        log(input('a'), turnClaimed(10, 1, one), turnDone(10), replacement('A', 'a')),
      ).inputs.get(10),
    ).not.toHaveProperty('cancelledAt')
  })
})

describe('unanswered messages after a replaced message', () => {
  const cancelledIds = (...facts: readonly LogFact[]) =>
    Array.from(fold(log(...facts)).inputs.values())
      .filter(({ cancelledAt }) => cancelledAt !== undefined)
      .map(({ id }) => id)
  const answeredA = [input('a'), turnClaimed(10, 1, one), turnDone(10)]

  test('unanswered messages after a replaced message are cancelled with it', () => {
    expect(cancelledIds(input('a'), input('b'), input('c'), replacement('B', 'b'))).toEqual([
      'b',
      'c',
    ])
    expect(
      cancelledIds(
        input('a'),
        turnClaimed(10, 1, one),
        input('b'),
        input('c'),
        replacement('A', 'a'),
      ),
    ).toEqual(['a', 'b', 'c'])
  })

  test('unanswered messages after a replaced message are cancelled even if that message is answered', () => {
    expect(cancelledIds(...answeredA, input('b'), replacement('A', 'a'), input('d'))).toEqual(['b'])
  })

  test('unanswered messages after a replaced message are cancelled on all its branches', () => {
    const before = [...answeredA, input('b'), replacement('A', 'a'), input('d')]
    expect(cancelledIds(...before)).toEqual(['b'])
    expect(cancelledIds(...before, replacement('B', 'b'))).toEqual(['b', 'A', 'd'])
  })

  test('unanswered messages before a replaced message are not cancelled', () => {
    expect(cancelledIds(input('a'), input('b'), input('c'), replacement('C', 'c'))).toEqual(['c'])
  })
})

describe('a compacted context', () => {
  const compacted = (how: 'cleared' | 'summarised' | 'dropped', through: number): LogFact =>
    turnFact({
      type: 'context-compacted',
      turn: 10,
      seen: 0,
      how,
      through,
      ...(how === 'summarised' ? { summary: 'short' } : {}),
      tokensBefore: 2,
      tokensAfter: 1,
    })

  test('a compacted context has the sequence of cleared results, and checkpoints for messages', () => {
    const before = [input('a'), turnClaimed(10, 1, one)]
    const { clearedThrough, checkpoints } = fold(
      log(
        ...before,
        compacted('cleared', 50),
        compacted('cleared', 30),
        compacted('summarised', 10),
      ),
    )
    expect(clearedThrough).toBe(50)
    expect(Array.from(checkpoints)).toEqual([[10, { how: 'summarised', summary: 'short' }]])
  })
})

describe('the usage of a session', () => {
  const costly = (generation: GenerationId, outputTokens: number): LogFact => {
    const { fact } = result(generation, 'text', 'failed') as LogFact & { kind: 'generation' }
    return { kind: 'generation', fact: { ...fact, usage: { inputTokens: 1, outputTokens } } }
  }

  test('usage is summed by turn and by model, including void generations that ended in time', () => {
    const { usage, turns } = fold(
      log(
        input('a'),
        turnClaimed(10, 1, one),
        costly(one, 5),
        turnFact({
          type: 'generation-started',
          turn: 10,
          seen: 0,
          generation: two,
          voids: one,
          reason: 'busy',
        }),
        costly(two, 7),
        costly(two, 100),
        costly(one, 100),
      ),
    )
    const sum = { provider: 'p', model: 'm', generations: 2, inputTokens: 2, outputTokens: 12 }
    expect(usage).toEqual([sum])
    expect(turns.get(10)?.usage).toEqual([sum])
  })

  test('usage includes summaries and generations for tools', () => {
    const toolUsage = {
      provider: 'p',
      model: 'm',
      generations: 2,
      outputTokens: 3,
      isEstimate: true,
    }
    const compacted = {
      type: 'context-compacted',
      how: 'summarised',
      through: 1,
      tokensBefore: 2,
      tokensAfter: 1,
      usage: toolUsage,
    } as const
    const { fact } = toolFinished('turnDone') as LogFact & { kind: 'tool' }
    const { usage, turns } = fold(
      log(
        input('a'),
        turnClaimed(10, 1, one),
        result(one, 'call'),
        turnFact({ ...compacted, turn: 10, seen: 0 }),
        { kind: 'tool', fact: { ...(fact as ToolFinished), usage: [toolUsage] } },
      ),
    )
    expect(turns.get(10)?.usage).toEqual(usage)
    expect(usage).toEqual([{ ...toolUsage, generations: 5, outputTokens: 6 }])
  })
})

test('an unreadable entry moves the fence if it is a turn event, and has no other effect', () => {
  const unreadable = (of: LogFact['kind'], seq: number): LogEntry => ({
    kind: 'unreadable',
    of,
    fact: undefined,
    session,
    envelope,
    seq,
    time: 9,
  })
  const state = fold([
    ...log(input('a'), turnClaimed(10, 1, one)),
    unreadable('turn', 30),
    unreadable('tool', 40),
  ])
  expect(state).toMatchObject({ seq: 40, fence: 30 })
  expect(nextInput(state)).toBe(10)
})

describe('a generation', () => {
  test('a generation has the first of its results', () => {
    const { generations, calls } = fold(
      log(input('a'), turnClaimed(10, 1, one), result(one, 'first'), result(one, 'second')),
    )
    expect(generations.get(one)).toMatchObject({
      result: { content: [{ text: 'first' }, { name: 'first' }] },
      resultSeq: 30,
    })
    expect(Array.from(calls.values(), ({ block }) => block.name)).toEqual(['first'])
  })

  test('a void generation has no result', () => {
    const { turns, generations, calls } = fold(
      log(
        input('a'),
        turnClaimed(10, 1, one),
        generationStarted(10, two, one),
        result(one, 'late'),
      ),
    )
    expect(generations.get(one)).toMatchObject({ isVoid: true, calls: new Map() })
    expect(generations.get(one)?.result).toBeUndefined()
    expect(generations.get(two)).toMatchObject({ isVoid: false })
    expect(turns.get(10)?.generations.map(({ id }) => id)).toEqual([one, two])
    expect(calls.size).toBe(0)
  })

  test('a generation whose result arrived before its replacement is not void, and the replacement is', () => {
    const { generations, calls } = fold(
      log(
        input('a'),
        turnClaimed(10, 1, one),
        result(one, 'in time'),
        generationStarted(10, two, one),
        result(two, 'too much'),
      ),
    )
    expect(generations.get(one)?.isVoid).toBe(false)
    expect(generations.get(two)).toMatchObject({ isVoid: true })
    expect(Array.from(calls.keys())).toEqual([call])
  })

  test('a failed generation is void once it is retried', () => {
    const retry: LogFact = turnFact({
      type: 'generation-started',
      turn: 10,
      seen: 0,
      generation: two,
      voids: one,
      reason: 'busy',
    })
    const { generations } = fold(
      log(input('a'), turnClaimed(10, 1, one), result(one, 'half', 'failed'), retry),
    )
    expect(generations.get(one)?.isVoid).toBe(true)
    expect(generations.get(two)?.isVoid).toBe(false)
  })

  test.each(['failed', 'cancelled'] as const)('a %s generation has no tool calls', (outcome) => {
    const { calls } = fold(log(input('a'), turnClaimed(10, 1, one), result(one, 'half', outcome)))
    expect(calls.size).toBe(0)
  })

  test.each([[undefined], [one]])(
    'a generation that ended after its turn has no result',
    (voids) => {
      const { generations, calls, usage } = fold(
        log(input('a'), turnClaimed(10, 1, one), turnDone(10, voids), result(one, 'late')),
      )
      expect(generations.get(one)?.result).toBeUndefined()
      expect([calls.size, usage]).toEqual([0, []])
    },
  )

  test('a generation that the end of its turn voids has no result, even if the result is stored before', () => {
    const { generations } = fold(
      log(input('a'), turnClaimed(10, 1, one), result(one, 'not seen'), turnDone(10, one)),
    )
    expect(generations.get(one)?.isVoid).toBe(true)
  })

  test('a result of a generation that was not started is ignored', () => {
    const { generations, calls } = fold(log(input('a'), turnClaimed(10, 1), result(one, 'stray')))
    expect(generations.size + calls.size).toBe(0)
  })
})

describe('a tool call', () => {
  const before = [input('a'), turnClaimed(10, 1, one), result(one, 'text')]
  const callAfter = (...facts: readonly LogFact[]) => fold(log(...before, ...facts)).calls.get(call)

  test('a tool call has the first of its results', () => {
    const { result: first } = callAfter(toolFinished('first'), toolFinished('second')) ?? {}
    expect(first?.content).toEqual([{ type: 'text', text: 'first' }])
  })

  test('a tool call has no result that arrived after the end of its turn', () => {
    expect(callAfter(turnDone(10), toolFinished('late'))?.result).toBeUndefined()
  })

  test('a tool call is settled once', () => {
    expect(callAfter(toolSettled('first'), toolSettled('second'))?.settled?.message).toBe('first')
  })

  test('a tool call has the first start of each attempt', () => {
    expect(callAfter(toolStarted(1), toolStarted(1), toolStarted(2))?.starts).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
    ])
  })

  test('a tool call waits for its first approval request until that is answered', () => {
    const permission = (id: string): LogFact =>
      turnFact({
        type: 'approval-required',
        turn: 10,
        seen: 0,
        call,
        server: 's',
        tool: 't',
        id,
        message: 'may it?',
        arguments: {},
        expiresAt: 7,
      })
    expect(callAfter()?.approval).toBeUndefined()
    expect(callAfter(permission('p'), permission('q'))?.approval).toMatchObject({
      asked: { id: 'p' },
    })
    expect(callAfter(permission('p'), inputAnswered('p', 'x'))?.approval?.end).toMatchObject({
      state: 'answered',
    })
    // The entries stand at times 1, 2, 3 …
    expect(callAfter(permission('p'), toolSettled('no'))?.approval?.end).toEqual({ state: 'void' })
    const late = [permission('p'), toolStarted(1), toolStarted(1), toolSettled('too late')]
    expect(callAfter(...late)?.approval?.end).toEqual({ state: 'expired' })
  })

  test('a tool call has the number of its latest attempt', () => {
    expect(callAfter()?.attempt).toBe(0)
    expect(callAfter(toolStarted(1), toolStarted(2), toolStarted(1))?.attempt).toBe(2)
  })

  test('facts of an unknown tool call are ignored', () => {
    const stray = toolCallId(two, 0)
    const { calls } = fold(log(...before, toolStarted(1, stray), toolFinished('x', stray)))
    expect(Array.from(calls.keys())).toEqual([call])
  })
})

describe('an input request', () => {
  const before = [input('a'), turnClaimed(10, 1, one), result(one, 'text'), toolStarted(1)]
  const questions = (...facts: readonly LogFact[]) => fold(log(...before, ...facts)).questions
  const endOf = (...facts: readonly LogFact[]) =>
    questions(inputRequired('q'), ...facts).get('q')?.end

  test('an input request is open until a fact ends it', () => {
    expect(questions(inputRequired('q')).get('q')).toMatchObject({
      asked: { id: 'q', message: 'who?' },
    })
    expect(endOf(inputRequired('r'), inputAnswered('r', 'Ann'), toolStarted(1))).toBeUndefined()
  })

  test('an input request has the first of its answers, and its principal', () => {
    expect(
      endOf(inputAnswered('q', 'Ann'), inputAnswered('q', 'Bob'), inputClosed('q', 'expired')),
    ).toEqual({
      state: 'answered',
      answer: { type: 'input-answered', id: 'q', action: 'accept', content: { name: 'Ann' } },
      by: 'local',
      seq: 60,
    })
  })

  test.each<[string, string, LogFact]>([
    ['expires', 'expired', inputClosed('q', 'expired')],
    ['is withdrawn', 'void', inputClosed('q', 'withdrawn')],
    ['loses its call', 'void', toolFinished('turnDone')],
    ['loses its call without a result', 'void', toolSettled('no')],
    ['belongs to an attempt of a dead supervisor', 'void', toolStarted(2)],
    ['loses its turn', 'void', turnDone(10)],
  ])('an input request that %s is closed to answers', (_, state, fact) => {
    expect(endOf(fact, inputAnswered('q', 'late'))).toEqual({ state })
  })

  test.each([
    ['another call ends', toolFinished('x', toolCallId(one, 1))],
    ['another input request of its call is closed', inputClosed('r', 'expired')],
  ])('an input request stays open when %s', (_, fact) => {
    expect(endOf(fact)).toBeUndefined()
  })

  test('an input request of an earlier attempt is ignored', () => {
    const known = questions(toolStarted(2), inputRequired('late', 1), inputRequired('q', 2))
    expect(Array.from(known.keys())).toEqual(['q'])
  })

  test('an input request after the end of its call, or of an unknown call, is ignored', () => {
    const stray = inputRequired('s', 1, toolCallId(two, 0))
    expect(questions(toolFinished('x'), inputRequired('q'), stray).size).toBe(0)
  })
})

describe('a turn', () => {
  test('a turn belongs to its latest claim, and keeps its generations', () => {
    const { turns } = fold(log(input('a'), turnClaimed(10, 1, one), turnClaimed(10, 2)))
    expect(turns.get(10)).toMatchObject({
      orchestrator: 'orchestrator-2',
      epoch: 2,
      generations: [{ id: one }],
    })
  })

  test('a turn counts its claims since the last progress', () => {
    const claims = [turnClaimed(10, 1, one), turnClaimed(10, 2), turnClaimed(10, 3)]
    const idle = (...facts: readonly LogFact[]) =>
      fold(log(input('a'), ...facts)).turns.get(10)?.idleClaims
    expect(idle(...claims)).toBe(3)
    expect(idle(...claims, result(one, 'x'))).toBe(0)
    expect(idle(...claims, result(one, 'x'), turnClaimed(10, 4))).toBe(1)
    expect(idle(...claims, generationStarted(10, two, one))).toBe(3)
  })

  test('facts of its tools are progress of a turn', () => {
    const before = [
      turnClaimed(10, 1, one),
      result(one, 'x'),
      turnClaimed(10, 2),
      turnClaimed(10, 3),
    ]
    const idle = (...facts: readonly LogFact[]) =>
      Array.from(
        fold(log(input('a'), ...before, ...facts)).turns.values(),
        (each) => each.idleClaims,
      )
    expect(idle()).toEqual([2])
    expect(idle(toolStarted(1))).toEqual([0])
    expect(idle(toolStarted(1), turnClaimed(10, 4), toolFinished('late'))).toEqual([0])
    expect(idle(toolStarted(1), turnClaimed(10, 4), inputRequired('q'))).toEqual([0])
    const next = [turnDone(10), input('b'), turnClaimed(70, 1), turnClaimed(70, 2)]
    expect(idle(...next, toolFinished('late'))).toEqual([2, 2])
  })

  test('a waiting turn resets its active time when it is claimed', () => {
    const waiting: LogFact = turnFact({
      type: 'turn-waiting',
      turn: 10,
      seen: 0,
      for: 'approval',
      until: 99,
    })
    const before = [input('a'), turnClaimed(10, 1, one), waiting]
    expect(fold(log(...before)).turns.get(10)).toMatchObject({
      waiting: { for: 'approval', until: 99 },
      activeSince: 2,
    })
    const after = fold(log(...before, turnClaimed(10, 2))).turns.get(10)
    expect(after).toMatchObject({ activeSince: 4 })
    expect(after?.waiting).toBeUndefined()
    expect(
      fold(log(input('a'), turnClaimed(10, 1, one), turnClaimed(10, 2))).turns.get(10)?.activeSince,
    ).toBe(2)
  })

  test('a turn is fenced by its last turn event alone', () => {
    const entries = log(input('a'), turnClaimed(10, 1, one), result(one, 'x'), toolStarted(1))
    expect(entries.map((_, index) => fold(entries.slice(0, index + 1)).fence)).toEqual([
      0, 20, 20, 20,
    ])
  })

  test('facts of a turn that was not claimed are ignored', () => {
    const { turns, generations } = fold(log(input('a'), generationStarted(10, one), turnDone(10)))
    expect(turns.size + generations.size).toBe(0)
  })
})

/** Pseudorandom numbers from 0 to below `limit`, from a seed (mulberry32). */
function random(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit) | 0
  }
}

function randomLog(seed: number): LogEntry[] {
  const below = random(seed)
  const generation = (): GenerationId => generationId(session, below(4))
  const turn = (): number => (below(4) + 1) * 10
  const makers: readonly (() => LogFact)[] = [
    () => input(`m${below(4)}`, `text ${below(100)}`),
    () => turnClaimed(turn(), below(3) + 1, generation()),
    () => generationStarted(turn(), generation(), below(2) === 0 ? generation() : undefined),
    () => result(generation(), `text ${below(100)}`),
    () => toolStarted(below(3) + 1, toolCallId(generation(), 0)),
    () => toolFinished(`text ${below(100)}`, toolCallId(generation(), 0)),
    () => toolSettled(`text ${below(100)}`),
    () => inputRequired(`q${below(3)}`, below(3) + 1, toolCallId(generation(), 0)),
    () => inputAnswered(`q${below(3)}`, `name ${below(100)}`),
    () => inputClosed(`q${below(3)}`, 'expired', toolCallId(generation(), 0)),
    () => turnDone(turn()),
    () => cancelled(below(2) === 0 ? undefined : `m${below(4)}`),
    () => replacement(`i${below(4)}`, `m${below(4)}`),
  ]
  return log(...Array.from({ length: 40 }, () => makers[below(makers.length)]?.() ?? input('x')))
}

test.each(Array.from({ length: 50 }, (_, seed) => seed))(
  'a log may be folded in overlapping pieces (seed %i)',
  (seed) => {
    const below = random(seed + 1_000)
    const entries = randomLog(seed)
    const whole = fold(entries)
    const cut = below(entries.length)
    const inPieces = fold(entries.slice(0, cut))
    fold(entries.slice(below(cut + 1)), inPieces)
    expect(inPieces).toEqual(whole)
    expect(fold(entries, inPieces)).toEqual(whole)
  },
)
