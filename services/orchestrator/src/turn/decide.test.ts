import type {
  ContentBlock,
  Generation,
  GenerationId,
  GenerationResult,
  ToolCall,
  ToolCallBlock,
  ToolFinished,
  Turn,
} from '@mcp-host/contracts'
import { toolCallId } from '@mcp-host/contracts'
import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'

const limits = { maxToolCalls: 3 }

function turn(...generations: Generation[]): Turn {
  return { input: 1, orchestrator: 'o1', epoch: 1, generations }
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
  return { block: { type: 'tool-call', id, ...known, ...block }, attempt: 0 }
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
  return { ...call(), settled: { outcome: 'refused', message: 'no' } }
}

function unknownTool(): ToolCall {
  const { block, ...rest } = call({ name: 'imagined' })
  const { server: _server, tool: _tool, ...without } = block
  return { ...rest, block: without }
}

describe('the next step', () => {
  test('of a turn without a generation is to start one', () => {
    expect(decide(turn(), limits)).toEqual({ type: 'generate', withTools: true })
  })

  test('is to wait for a generation that runs', () => {
    const now = running('a')
    expect(decide(turn(now), limits)).toEqual({
      type: 'await-generation',
      generation: now,
      withTools: true,
    })
  })

  test('after an answer without calls is the end', () => {
    const step = decide(turn(generation('a')), limits)
    expect(step).toEqual({ type: 'finish', outcome: 'completed' })
  })

  test('is to run all open calls of a reply, and only those', () => {
    const [one, two] = [call(), call()]
    const reply = generation('a', [one, answered(), two])
    const step = decide(turn(reply), limits)
    expect(step).toEqual({ type: 'run-tools', generation: reply, calls: [one, two] })
  })

  test('after the last answer of a tool is to go on', () => {
    const step = decide(turn(generation('a', [answered(), settled()])), limits)
    expect(step).toEqual({ type: 'generate', withTools: true })
  })

  test('after a failed reply is the end with its reason', () => {
    const error = { code: 'exhausted' as const, message: 'rate limit' }
    const reply = generation('a', [], { outcome: 'failed', error })
    expect(decide(turn(reply), limits)).toEqual({ type: 'finish', outcome: 'failed', error })
  })

  test('after a cancelled reply is the end, and says so', () => {
    const reply = generation('a', [], { outcome: 'cancelled' })
    expect(decide(turn(reply), limits)).toMatchObject({
      type: 'finish',
      outcome: 'failed',
      error: { code: 'cancelled' },
    })
  })

  test('looks at the last generation only', () => {
    const now = running('b')
    const step = decide(turn(generation('a', [answered()]), now), limits)
    expect(step).toMatchObject({ type: 'await-generation', generation: now })
  })
})

describe('a generation that was given up', () => {
  test('does not count, whatever it has', () => {
    const dead = { ...generation('a'), isVoid: true }
    expect(decide(turn(dead), limits)).toEqual({ type: 'generate', withTools: true })
  })

  test('leaves its calls out of the limit', () => {
    const dead = { ...generation('a', [call(), call(), call()]), isVoid: true }
    const now = running('b')
    expect(decide(turn(dead, now), limits)).toMatchObject({ generation: now, withTools: true })
  })
})

describe('a call is refused without reaching a server', () => {
  test('when there is no such tool', () => {
    const bad = unknownTool()
    const step = decide(turn(generation('a', [call(), bad])), limits)
    expect(step).toEqual({
      type: 'settle',
      call: bad,
      message: expect.stringContaining('there is no tool "imagined"'),
    })
  })

  test.each([['text'], [null], [7], [['a']]])('when its arguments are %j, no object', (given) => {
    const bad = call({ arguments: given })
    expect(decide(turn(generation('a', [bad])), limits)).toEqual({
      type: 'settle',
      call: bad,
      message: 'the arguments of "test__echo" must be a JSON object; what you wrote is not.',
    })
  })

  test('when the turn has made all the calls it may, counted over its replies', () => {
    const past = generation('a', [answered(), settled()])
    const [last, over] = [call(), call()]
    const step = decide(turn(past, generation('b', [last, over])), limits)
    expect(step).toEqual({
      type: 'settle',
      call: over,
      message: expect.stringContaining('this turn may make 3 tool calls'),
    })
  })

  test('and what it was told is not told again', () => {
    const reply = generation('a', [
      { ...unknownTool(), settled: { outcome: 'refused', message: '' } },
    ])
    expect(decide(turn(reply), limits)).toEqual({ type: 'generate', withTools: true })
  })
})

describe('the limit of tool calls', () => {
  test('lets the last allowed call run', () => {
    const past = generation('a', [answered(), answered()])
    const last = call()
    const step = decide(turn(past, generation('b', [last])), limits)
    expect(step).toMatchObject({ type: 'run-tools', calls: [last] })
  })

  test('once reached lets the model answer without tools', () => {
    const past = generation('a', [answered(), answered(), answered()])
    expect(decide(turn(past), limits)).toEqual({ type: 'generate', withTools: false })
    expect(decide(turn(past, running('b')), limits)).toMatchObject({ withTools: false })
  })

  test('ends the turn when the model calls all the same', () => {
    const past = generation('a', [answered(), answered(), answered()])
    expect(decide(turn(past, generation('b', [settled()])), limits)).toMatchObject({
      type: 'finish',
      outcome: 'limit',
      error: { code: 'exhausted', message: expect.stringContaining('more than 3 tool calls') },
    })
  })

  test('of none never offers a tool', () => {
    expect(decide(turn(), { maxToolCalls: 0 })).toEqual({ type: 'generate', withTools: false })
  })
})
