import { describe, expect, test } from 'vitest'
import { newEnvelope } from '../envelope.ts'
import type { GenerationId, SessionId } from '../ids.ts'
import { generationId, toolCallId } from '../ids.ts'
import type { SessionState } from './fold.ts'
import { applyEntry, branchOf, emptySession, nextInput } from './fold.ts'
import type { GenerationResult } from './generation-result.ts'
import type { LogEntry, LogFact } from './log-entry.ts'
import type { ToolFinished } from './tool-fact.ts'
import type { TurnEvent } from './turn-event.ts'

const session = '0123456789abcdef' as SessionId
const envelope = newEnvelope('local')
const one = generationId(session, 0)
const two = generationId(session, 2)
const call = toolCallId(one, 0)

/** The entries of a log that holds these facts, at 10, 20, 30 … */
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

const instead = (id: string, replaces: string): LogFact => ({
  kind: 'input',
  fact: { id, text: id, replaces },
})

const cancelled = (messageId?: string): LogFact => ({
  kind: 'control',
  fact: { type: 'cancel-requested', ...(messageId === undefined ? {} : { messageId }) },
})

const turnFact = (fact: TurnEvent): LogFact => ({ kind: 'turn', fact })

const claimed = (turn: number, epoch: number, generation?: GenerationId): LogFact =>
  turnFact({
    type: 'turn-claimed',
    turn,
    seen: 0,
    messageId: 'm',
    orchestrator: `orchestrator-${epoch}`,
    epoch,
    ...(generation === undefined ? {} : { generation }),
  })

const started = (turn: number, generation: GenerationId, voids?: GenerationId): LogFact =>
  turnFact({
    type: 'generation-started',
    turn,
    seen: 0,
    generation,
    ...(voids === undefined ? {} : { voids }),
  })

const done = (turn: number, voids?: GenerationId): LogFact =>
  turnFact({
    type: 'turn-done',
    turn,
    seen: 0,
    outcome: 'completed',
    ...(voids === undefined ? {} : { voids }),
  })

const settled = (message: string): LogFact =>
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

const asked = (id: string, attempt = 1, of = call): LogFact => ({
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

const answered = (id: string, name: string): LogFact => ({
  kind: 'control',
  fact: { type: 'input-answered', id, action: 'accept', content: { name } },
})

const closed = (id: string, reason: 'expired' | 'withdrawn', of = call): LogFact => ({
  kind: 'tool',
  fact: { type: 'input-closed', call: of, id, reason },
})

describe('a user message', () => {
  test('is cancelled when its session was deleted before', () => {
    const deleted: LogFact = { kind: 'control', fact: { type: 'session-deleted' } }
    const { inputs } = fold(log(input('a'), deleted, input('b')))
    const ends = Array.from(inputs.values(), ({ cancelledAt }) => cancelledAt !== undefined)
    expect(ends).toEqual([true, true])
  })

  test('that was stored twice under one id is one message, the first', () => {
    const { inputs } = fold(log(input('a', 'first'), input('b'), input('a', 'again')))
    expect(Array.from(inputs)).toMatchObject([
      [10, { id: 'a', text: 'first', envelope }],
      [20, { id: 'b', text: 'b', envelope }],
    ])
  })

  test('is next when all before it are answered, whatever came in between', () => {
    const state = emptySession()
    expect(nextInput(state)).toBeUndefined()
    const next = log(
      input('a'),
      input('b'),
      claimed(10, 1, one),
      input('c'),
      done(10),
      claimed(20, 1, two),
      done(20),
      claimed(40, 1),
      done(40),
    ).map((entry) => {
      applyEntry(state, entry)
      return nextInput(state)
    })
    expect(next).toEqual([10, 10, 10, 10, 20, 20, 40, 40, undefined])
  })
})

describe('a cancel', () => {
  const whenCancelled = (...facts: readonly LogFact[]) =>
    Array.from(fold(log(...facts)).inputs.values(), ({ cancelledAt }) => cancelledAt)

  test('of a message is noted with its time, once, whether its turn runs or waits', () => {
    const before = [input('a'), input('b'), claimed(10, 1, one)]
    expect(whenCancelled(...before, cancelled('a'), cancelled('a'))).toEqual([4, undefined])
    expect(whenCancelled(...before, cancelled('b'))).toEqual([undefined, 4])
  })

  test('that names no message means the turn that runs or is next', () => {
    const before = [input('a'), claimed(10, 1, one), done(10), input('b'), input('c')]
    expect(whenCancelled(...before, cancelled())).toEqual([undefined, 6, undefined])
  })

  test('of what is over, or of nothing, changes nothing', () => {
    const before = [input('a'), claimed(10, 1, one), done(10), input('b')]
    expect(whenCancelled(...before, cancelled('a'), cancelled('x'))).toEqual([undefined, undefined])
    expect(whenCancelled(cancelled())).toEqual([])
  })

  test('comes to all that is left when the session is deleted', () => {
    const deleted: LogFact = { kind: 'control', fact: { type: 'session-deleted' } }
    const before = [input('a'), claimed(10, 1, one), done(10), input('b'), input('c')]
    expect(whenCancelled(...before, deleted)).toEqual([undefined, 6, 6])
    expect(fold(log(...before, deleted)).isDeleted).toBe(true)
  })
})

test('a model that is chosen answers what is said after it and names nobody', () => {
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

  test('holds what was said one after the other', () => {
    expect(branch()).toEqual([])
    expect(branch(input('a'), input('b'), input('a'), input('c'))).toEqual(['a', 'b', 'c'])
  })

  test('begins anew in the place of a message that is said differently', () => {
    const before = [input('a'), input('b'), input('c')]
    expect(branch(...before, instead('B', 'b'))).toEqual(['a', 'B'])
    expect(branch(...before, instead('B', 'b'), input('d'))).toEqual(['a', 'B', 'd'])
    expect(branch(...before, instead('A', 'a'))).toEqual(['A'])
    expect(branch(...before, instead('x', 'unknown'))).toEqual(['a', 'b', 'c', 'x'])
  })

  test('that replaces a message which is not answered yet cancels that one', () => {
    const { inputs } = fold(
      log(input('a'), claimed(10, 1, one), done(10), input('b'), instead('B', 'b')),
    )
    expect(inputs.get(40)?.cancelledAt).toBe(5)
    expect(
      fold(log(input('a'), claimed(10, 1, one), done(10), instead('A', 'a'))).inputs.get(10),
    ).not.toHaveProperty('cancelledAt')
  })
})

describe('what is not answered yet when a message is replaced', () => {
  const whenReplaced = (...facts: readonly LogFact[]) =>
    Array.from(fold(log(...facts)).inputs.values())
      .filter(({ cancelledAt }) => cancelledAt !== undefined)
      .map(({ id }) => id)
  const answeredA = [input('a'), claimed(10, 1, one), done(10)]

  test('is cancelled with it, as far as it was said later', () => {
    expect(whenReplaced(input('a'), input('b'), input('c'), instead('B', 'b'))).toEqual(['b', 'c'])
    expect(
      whenReplaced(input('a'), claimed(10, 1, one), input('b'), input('c'), instead('A', 'a')),
    ).toEqual(['a', 'b', 'c'])
  })

  test('is cancelled also when the message itself is answered', () => {
    expect(whenReplaced(...answeredA, input('b'), instead('A', 'a'), input('d'))).toEqual(['b'])
  })

  test('is cancelled on whatever branch it stands', () => {
    const before = [...answeredA, input('b'), instead('A', 'a'), input('d')]
    expect(whenReplaced(...before)).toEqual(['b'])
    expect(whenReplaced(...before, instead('B', 'b'))).toEqual(['b', 'A', 'd'])
  })

  test('goes on when it was said before', () => {
    expect(whenReplaced(input('a'), input('b'), input('c'), instead('C', 'c'))).toEqual(['c'])
  })
})

describe('what models are sent less of', () => {
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

  test('is remembered: results up to a place, and what stands for all up to a message', () => {
    const before = [input('a'), claimed(10, 1, one)]
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

describe('what a session took', () => {
  const costly = (generation: GenerationId, outputTokens: number): LogFact => {
    const { fact } = result(generation, 'text', 'failed') as LogFact & { kind: 'generation' }
    return { kind: 'generation', fact: { ...fact, usage: { inputTokens: 1, outputTokens } } }
  }

  test('is summed up by turn and by model, with what was given up after it had ended', () => {
    const { usage, turns } = fold(
      log(
        input('a'),
        claimed(10, 1, one),
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

  test('includes summaries and what models wrote for tools', () => {
    const took = { provider: 'p', model: 'm', generations: 2, outputTokens: 3, isEstimate: true }
    const compacted = {
      type: 'context-compacted',
      how: 'summarised',
      through: 1,
      tokensBefore: 2,
      tokensAfter: 1,
      usage: took,
    } as const
    const { fact } = toolFinished('done') as LogFact & { kind: 'tool' }
    const { usage, turns } = fold(
      log(
        input('a'),
        claimed(10, 1, one),
        result(one, 'call'),
        turnFact({ ...compacted, turn: 10, seen: 0 }),
        { kind: 'tool', fact: { ...(fact as ToolFinished), usage: [took] } },
      ),
    )
    expect(turns.get(10)?.usage).toEqual(usage)
    expect(usage).toEqual([{ ...took, generations: 5, outputTokens: 6 }])
  })
})

test('an entry that cannot be read fences if it stands among the turn events, and means nothing else', () => {
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
    ...log(input('a'), claimed(10, 1, one)),
    unreadable('turn', 30),
    unreadable('tool', 40),
  ])
  expect(state).toMatchObject({ seq: 40, fence: 30 })
  expect(nextInput(state)).toBe(10)
})

describe('a generation', () => {
  test('has the first of its results', () => {
    const { generations, calls } = fold(
      log(input('a'), claimed(10, 1, one), result(one, 'first'), result(one, 'second')),
    )
    expect(generations.get(one)).toMatchObject({
      result: { content: [{ text: 'first' }, { name: 'first' }] },
      resultSeq: 30,
    })
    expect(Array.from(calls.values(), ({ block }) => block.name)).toEqual(['first'])
  })

  test('has no result any more once it is void', () => {
    const { turns, generations, calls } = fold(
      log(input('a'), claimed(10, 1, one), started(10, two, one), result(one, 'late')),
    )
    expect(generations.get(one)).toMatchObject({ isVoid: true, calls: new Map() })
    expect(generations.get(one)?.result).toBeUndefined()
    expect(generations.get(two)).toMatchObject({ isVoid: false })
    expect(turns.get(10)?.generations.map(({ id }) => id)).toEqual([one, two])
    expect(calls.size).toBe(0)
  })

  test('whose result came before it was given up for dead counts, and the one in its place does not', () => {
    const { generations, calls } = fold(
      log(
        input('a'),
        claimed(10, 1, one),
        result(one, 'in time'),
        started(10, two, one),
        result(two, 'too much'),
      ),
    )
    expect(generations.get(one)?.isVoid).toBe(false)
    expect(generations.get(two)).toMatchObject({ isVoid: true })
    expect(Array.from(calls.keys())).toEqual([call])
  })

  test('that failed is void once it is tried again', () => {
    const again: LogFact = turnFact({
      type: 'generation-started',
      turn: 10,
      seen: 0,
      generation: two,
      voids: one,
      reason: 'busy',
    })
    const { generations } = fold(
      log(input('a'), claimed(10, 1, one), result(one, 'half', 'failed'), again),
    )
    expect(generations.get(one)?.isVoid).toBe(true)
    expect(generations.get(two)?.isVoid).toBe(false)
  })

  test.each(['failed', 'cancelled'] as const)('that was %s asks for no tools', (outcome) => {
    const { calls } = fold(log(input('a'), claimed(10, 1, one), result(one, 'half', outcome)))
    expect(calls.size).toBe(0)
  })

  test.each([[undefined], [one]])('that ended after its turn has no result', (voids) => {
    const { generations, calls, usage } = fold(
      log(input('a'), claimed(10, 1, one), done(10, voids), result(one, 'late')),
    )
    expect(generations.get(one)?.result).toBeUndefined()
    expect([calls.size, usage]).toEqual([0, []])
  })

  test('that its turn ended without is void, also when its result came just before', () => {
    const { generations } = fold(
      log(input('a'), claimed(10, 1, one), result(one, 'not seen'), done(10, one)),
    )
    expect(generations.get(one)?.isVoid).toBe(true)
  })

  test('that nobody started counts for nothing', () => {
    const { generations, calls } = fold(log(input('a'), claimed(10, 1), result(one, 'stray')))
    expect(generations.size + calls.size).toBe(0)
  })
})

describe('a tool call', () => {
  const before = [input('a'), claimed(10, 1, one), result(one, 'text')]
  const callAfter = (...facts: readonly LogFact[]) => fold(log(...before, ...facts)).calls.get(call)

  test('has the first of its results', () => {
    const { result: kept } = callAfter(toolFinished('first'), toolFinished('second')) ?? {}
    expect(kept?.content).toEqual([{ type: 'text', text: 'first' }])
  })

  test('has no result that came after the end of its turn', () => {
    expect(callAfter(done(10), toolFinished('late'))?.result).toBeUndefined()
  })

  test('is settled once', () => {
    expect(callAfter(settled('first'), settled('second'))?.settled?.message).toBe('first')
  })

  test('keeps of each attempt the start that came first', () => {
    expect(callAfter(toolStarted(1), toolStarted(1), toolStarted(2))?.starts).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
    ])
  })

  test('waits for the first permission that was asked for, until that is answered', () => {
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
    expect(callAfter(permission('p'), answered('p', 'x'))?.approval?.end).toMatchObject({
      state: 'answered',
    })
    // The entries stand at times 1, 2, 3 …
    expect(callAfter(permission('p'), settled('no'))?.approval?.end).toEqual({ state: 'void' })
    const late = [permission('p'), toolStarted(1), toolStarted(1), settled('too late')]
    expect(callAfter(...late)?.approval?.end).toEqual({ state: 'expired' })
  })

  test('knows the attempt that was started last', () => {
    expect(callAfter()?.attempt).toBe(0)
    expect(callAfter(toolStarted(1), toolStarted(2), toolStarted(1))?.attempt).toBe(2)
  })

  test('that no generation asked for counts for nothing', () => {
    const stray = toolCallId(two, 0)
    const { calls } = fold(log(...before, toolStarted(1, stray), toolFinished('x', stray)))
    expect(Array.from(calls.keys())).toEqual([call])
  })
})

describe('a question of a tool call', () => {
  const before = [input('a'), claimed(10, 1, one), result(one, 'text'), toolStarted(1)]
  const questions = (...facts: readonly LogFact[]) => fold(log(...before, ...facts)).questions
  const endOf = (...facts: readonly LogFact[]) => questions(asked('q'), ...facts).get('q')?.end

  test('is open until something ends it', () => {
    expect(questions(asked('q')).get('q')).toMatchObject({ asked: { id: 'q', message: 'who?' } })
    expect(endOf(asked('r'), answered('r', 'Ann'), toolStarted(1))).toBeUndefined()
  })

  test('has the first of its answers, and knows who gave it', () => {
    expect(endOf(answered('q', 'Ann'), answered('q', 'Bob'), closed('q', 'expired'))).toEqual({
      state: 'answered',
      answer: { type: 'input-answered', id: 'q', action: 'accept', content: { name: 'Ann' } },
      by: 'local',
      seq: 60,
    })
  })

  test.each<[string, string, LogFact]>([
    ['expires', 'expired', closed('q', 'expired')],
    ['is taken back', 'void', closed('q', 'withdrawn')],
    ['loses its call', 'void', toolFinished('done')],
    ['loses its call without a result', 'void', settled('no')],
    ['was asked by an attempt whose supervisor died', 'void', toolStarted(2)],
    ['loses its turn', 'void', done(10)],
  ])('that %s takes no answer any more', (_, state, fact) => {
    expect(endOf(fact, answered('q', 'late'))).toEqual({ state })
  })

  test.each([
    ['another call ends', toolFinished('x', toolCallId(one, 1))],
    ['another question of its call is closed', closed('r', 'expired')],
  ])('stays open when %s', (_, fact) => {
    expect(endOf(fact)).toBeUndefined()
  })

  test('that a supervisor asked which was given up meanwhile is none', () => {
    const known = questions(toolStarted(2), asked('late', 1), asked('q', 2))
    expect(Array.from(known.keys())).toEqual(['q'])
  })

  test('that was asked after its call ended, or of no call, is none', () => {
    const stray = asked('s', 1, toolCallId(two, 0))
    expect(questions(toolFinished('x'), asked('q'), stray).size).toBe(0)
  })
})

describe('a turn', () => {
  test('belongs to who claimed it last and keeps its generations', () => {
    const { turns } = fold(log(input('a'), claimed(10, 1, one), claimed(10, 2)))
    expect(turns.get(10)).toMatchObject({
      orchestrator: 'orchestrator-2',
      epoch: 2,
      generations: [{ id: one }],
    })
  })

  test('counts how often it was claimed since something came of it', () => {
    const claims = [claimed(10, 1, one), claimed(10, 2), claimed(10, 3)]
    const idle = (...facts: readonly LogFact[]) =>
      fold(log(input('a'), ...facts)).turns.get(10)?.idleClaims
    expect(idle(...claims)).toBe(3)
    expect(idle(...claims, result(one, 'x'))).toBe(0)
    expect(idle(...claims, result(one, 'x'), claimed(10, 4))).toBe(1)
    expect(idle(...claims, started(10, two, one))).toBe(3)
  })

  test('gets on when its tools do', () => {
    const before = [claimed(10, 1, one), result(one, 'x'), claimed(10, 2), claimed(10, 3)]
    const idle = (...facts: readonly LogFact[]) =>
      Array.from(
        fold(log(input('a'), ...before, ...facts)).turns.values(),
        (each) => each.idleClaims,
      )
    expect(idle()).toEqual([2])
    expect(idle(toolStarted(1))).toEqual([0])
    expect(idle(toolStarted(1), claimed(10, 4), toolFinished('late'))).toEqual([0])
    expect(idle(toolStarted(1), claimed(10, 4), asked('q'))).toEqual([0])
    const next = [done(10), input('b'), claimed(70, 1), claimed(70, 2)]
    expect(idle(...next, toolFinished('late'))).toEqual([2, 2])
  })

  test('waits until it is claimed again, and then has its whole time anew', () => {
    const waiting: LogFact = turnFact({
      type: 'turn-waiting',
      turn: 10,
      seen: 0,
      for: 'approval',
      until: 99,
    })
    const before = [input('a'), claimed(10, 1, one), waiting]
    expect(fold(log(...before)).turns.get(10)).toMatchObject({
      waiting: { for: 'approval', until: 99 },
      activeSince: 2,
    })
    const after = fold(log(...before, claimed(10, 2))).turns.get(10)
    expect(after).toMatchObject({ activeSince: 4 })
    expect(after?.waiting).toBeUndefined()
    expect(
      fold(log(input('a'), claimed(10, 1, one), claimed(10, 2))).turns.get(10)?.activeSince,
    ).toBe(2)
  })

  test('is fenced by the last turn event and by nothing else', () => {
    const entries = log(input('a'), claimed(10, 1, one), result(one, 'x'), toolStarted(1))
    expect(entries.map((_, index) => fold(entries.slice(0, index + 1)).fence)).toEqual([
      0, 20, 20, 20,
    ])
  })

  test('that was never claimed is not made up by what else is said of it', () => {
    const { turns, generations } = fold(log(input('a'), started(10, one), done(10)))
    expect(turns.size + generations.size).toBe(0)
  })
})

/** Numbers from 0 to below `limit`, the same for the same seed (mulberry32). */
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
    () => claimed(turn(), below(3) + 1, generation()),
    () => started(turn(), generation(), below(2) === 0 ? generation() : undefined),
    () => result(generation(), `text ${below(100)}`),
    () => toolStarted(below(3) + 1, toolCallId(generation(), 0)),
    () => toolFinished(`text ${below(100)}`, toolCallId(generation(), 0)),
    () => settled(`text ${below(100)}`),
    () => asked(`q${below(3)}`, below(3) + 1, toolCallId(generation(), 0)),
    () => answered(`q${below(3)}`, `name ${below(100)}`),
    () => closed(`q${below(3)}`, 'expired', toolCallId(generation(), 0)),
    () => done(turn()),
    () => cancelled(below(2) === 0 ? undefined : `m${below(4)}`),
    () => instead(`i${below(4)}`, `m${below(4)}`),
  ]
  return log(...Array.from({ length: 40 }, () => makers[below(makers.length)]?.() ?? input('x')))
}

test.each(Array.from({ length: 50 }, (_, seed) => seed))(
  'any log may be read in pieces that overlap (seed %i)',
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
