import { describe, expect, test, vi } from 'vitest'

import { hold, startCalls, stopTime } from '../test/calls-stage.ts'
import { textOf } from '../test/text-of.ts'
import {
  type CallToolOptions,
  type CallToolResult,
  type HostEvent,
  type Progress,
  ToolExecutionError,
} from './index.ts'

describe('the time limit of a call', () => {
  test('is on silence: progress extends it, up to the maximum', async () => {
    const stage = await startCalls({ timeoutMs: 1000, maxTimeoutMs: 2500 })
    stopTime()
    const { outcome } = await hold(stage, { requestId: 'r1' })
    for (const _ of [1, 2]) {
      await vi.advanceTimersByTimeAsync(900)
      await stage.say('it.step')
    }
    await vi.advanceTimersByTimeAsync(699)
    expect(stage.host.getMetrics().servers['it']?.tools['hold']?.inFlight).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await outcome).toMatchObject({
      name: 'TimeoutError',
      timeoutMs: 2500,
      server: 'it',
      tool: 'hold',
      requestId: 'r1',
      message: 'it.hold did not answer within 2500 ms',
    })
    expect(await stage.say('it.heard')).toContain('cancelled:it took too long')
  })

  test('ends a call that falls silent after progress', async () => {
    const stage = await startCalls({ timeoutMs: 1000 })
    stopTime()
    const { outcome } = await hold(stage)
    await vi.advanceTimersByTimeAsync(999)
    await stage.say('it.step')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await outcome).toMatchObject({ code: 'timeout', timeoutMs: 1000 })
  })

  test('is not extended when the caller gave it for this call', async () => {
    const stage = await startCalls()
    stopTime()
    const { outcome } = await hold(stage, { timeoutMs: 1000 })
    await vi.advanceTimersByTimeAsync(900)
    await stage.say('it.step')
    await vi.advanceTimersByTimeAsync(100)
    expect(await outcome).toMatchObject({ code: 'timeout', timeoutMs: 1000 })
  })

  test('is extended as far as the caller says', async () => {
    const stage = await startCalls()
    stopTime()
    const { outcome } = await hold(stage, { timeoutMs: 1000, maxTimeoutMs: 1500 })
    await vi.advanceTimersByTimeAsync(900)
    await stage.say('it.step')
    await vi.advanceTimersByTimeAsync(600)
    expect(await outcome).toMatchObject({ timeoutMs: 1500 })
  })

  test('is never longer than the maximum', async () => {
    const stage = await startCalls({}, { defaultToolTimeoutMs: 5000, maxToolTimeoutMs: 700 })
    stopTime()
    const { outcome } = await hold(stage)
    await vi.advanceTimersByTimeAsync(700)
    expect(await outcome).toMatchObject({ timeoutMs: 700 })
  })

  test('may be none, also for a call that reports progress', async () => {
    const stage = await startCalls()
    const seen: Progress[] = []
    const options = { timeoutMs: Infinity, onProgress: (report: Progress) => seen.push(report) }
    const { outcome } = await hold(stage, options)
    await stage.say('it.step')
    await stage.say('it.step')
    await stage.say('it.release')
    expect(await outcome).toBe('released')
    expect(seen).toHaveLength(2)
  })
})

test('progress is passed on as the server reports it, to its own call alone', async () => {
  const stage = await startCalls()
  const seen: Record<string, Progress[]> = { a: [], b: [] }
  const a = await hold(stage, { onProgress: (progress) => seen['a']?.push(progress) })
  await stage.say('it.step')
  const b = await hold(stage, { onProgress: (progress) => seen['b']?.push(progress) })
  await stage.say('it.step')
  await stage.say('it.release')
  await Promise.all([a.outcome, b.outcome])
  const second = { progress: 2, total: 9, message: 'on' }
  expect(seen).toEqual({ a: [{ progress: 1, total: 9, message: 'on' }, second], b: [second] })
})

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('a fault of the caller')
    },
  ],
  ['rejects', () => Promise.reject(new Error('a fault of the caller'))],
])(
  'a listener to progress that %s costs nobody anything but a line in the log',
  async (_title, onProgress) => {
    const stage = await startCalls()
    const other = await hold(stage)
    const { outcome } = await hold(stage, { onProgress })
    await stage.say('it.step')
    await stage.say('it.release')
    expect(await outcome).toBe('released')
    expect(await other.outcome).toBe('released')
    const err = expect.objectContaining({ message: 'onProgress failed' })
    expect(stage.logged).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ server: 'it', err }),
      }),
    )
  },
)

describe('a cancellation', () => {
  test('by the signal throws its reason and reaches the server', async () => {
    const stage = await startCalls()
    const abort = new AbortController()
    const { outcome } = await hold(stage, { signal: abort.signal })
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await outcome).toBe(reason)
    expect(await stage.say('it.heard')).toBe('cancelled:the caller cancelled it')
    expect(stage.host.getMetrics().servers['it']?.tools['hold']).toMatchObject({ cancelled: 1 })
  })

  test('by the request id ends every call that has it, and no other', async () => {
    const stage = await startCalls()
    const abort = new AbortController()
    const first = await hold(stage, { requestId: 'turn-1' })
    const second = await hold(stage, { requestId: 'turn-1', signal: abort.signal })
    const other = await hold(stage, { requestId: 'turn-2' })
    expect(stage.host.abort('turn-0')).toBe(false)
    expect(stage.host.abort('turn-1')).toBe(true)
    expect(await first.outcome).toMatchObject({ name: 'AbortError' })
    expect(await second.outcome).toMatchObject({ name: 'AbortError' })
    expect(stage.host.abort('turn-1')).toBe(false)
    expect((await stage.say('it.heard')).match(/cancelled:/g)).toHaveLength(2)
    expect(stage.host.abort('turn-2', 'the user left')).toBe(true)
    expect(await other.outcome).toBe('the user left')
  })

  test('with an id keeps its own signal', async () => {
    const stage = await startCalls()
    const abort = new AbortController()
    const { outcome } = await hold(stage, { requestId: 'r', signal: abort.signal })
    abort.abort('mine')
    expect(await outcome).toBe('mine')
  })

  test('of a call that waits for its turn means that the server never hears of it', async () => {
    const stage = await startCalls({ maxConcurrentCalls: 1 })
    const held = await hold(stage)
    const abort = new AbortController()
    const waiting = stage.host.callTool('it.hold', {}, { signal: abort.signal })
    abort.abort('changed my mind')
    await expect(waiting).rejects.toBe('changed my mind')
    process.kill(stage.find('it').pid ?? 0, 'SIGUSR2')
    expect(await held.outcome).toBe('released')
    expect(await stage.workspace.lines('log')).toEqual(['start', 'hold'])
  })
})

test('a saturated server gets the urgent calls first', async () => {
  const stage = await startCalls({ maxConcurrentCalls: 1 })
  const { outcome } = await hold(stage)
  const order: string[] = []
  const say = (text: string, options: CallToolOptions): Promise<unknown> =>
    stage.host.callTool('it.say', { text }, options).then((result) => order.push(textOf(result)))
  const calls = [
    say('low', { priority: 'low' }),
    say('normal', {}),
    say('high', { priority: 'high' }),
    say('normal too', { priority: 'normal' }),
  ]
  process.kill(stage.find('it').pid ?? 0, 'SIGUSR2')
  await Promise.all([outcome, ...calls])
  expect(order).toEqual(['high', 'normal', 'normal too', 'low'])
})

test('a thousand calls at once all get their own answer', async () => {
  const stage = await startCalls()
  const numbers = Array.from({ length: 1000 }, (_, index) => String(index))
  const answers = await Promise.all(numbers.map((text) => stage.say('it.say', { text })))
  expect(answers).toEqual(numbers)
  expect(stage.host.getMetrics().servers['it']?.tools['say']).toMatchObject({
    count: 1000,
    success: 1000,
    inFlight: 0,
  })
})

describe('a result', () => {
  test('is passed on as received, fields that nobody knows included', async () => {
    const stage = await startCalls()
    const result = {
      content: [
        { type: 'text', text: 'a', annotations: { priority: 1 }, 'x-more': [1] },
        { type: 'hologram', shape: { any: 'thing' } },
      ],
      structuredContent: { deep: [{ er: null }] },
      _meta: { 'some/key': 1 },
      future: true,
    }
    expect(await stage.host.callTool('it.raw', { result })).toEqual(result)
    const lean = await stage.host.callTool('it.raw', { result: { structuredContent: { a: 1 } } })
    expect(lean).toEqual({ content: [], structuredContent: { a: 1 } })
  })

  test.each([null, 5, 'text', [], { content: 'text' }, { content: [{ text: 'no type' }] }])(
    'that is none is a fault of the protocol: %j',
    async (result) => {
      const stage = await startCalls()
      await expect(stage.host.callTool('it.raw', { result })).rejects.toMatchObject({
        name: 'ProtocolError',
        rpcCode: undefined,
        message: 'it.raw answered with a malformed result',
      })
    },
  )

  test('must be what the tool promises, where that is strict', async () => {
    const stage = await startCalls({ validateArguments: 'strict' })
    const weigh = (result: unknown): Promise<CallToolResult> =>
      stage.host.callTool('it.weigh', { result })
    const content = [{ type: 'text', text: '5 g' }]
    expect(await weigh({ content, structuredContent: { grams: 5 } })).toMatchObject({
      structuredContent: { grams: 5 },
    })
    await expect(weigh({ content, structuredContent: { grams: 'heavy' } })).rejects.toMatchObject({
      name: 'ProtocolError',
      message:
        'it.weigh answered with a result that breaks its own output schema: "grams" must be number',
    })
    await expect(weigh({ content })).rejects.toThrow('breaks its own output schema')
    expect(await weigh({ content, isError: true })).toMatchObject({ isError: true })
  })

  test('is delivered with one warning when it is not what the tool promises', async () => {
    const stage = await startCalls()
    const result = { content: [], structuredContent: { grams: 'heavy' } }
    expect(await stage.host.callTool('it.weigh', { result })).toEqual(result)
    expect(await stage.host.callTool('it.weigh', { result: { content: [] } })).toEqual({
      content: [],
    })
    const message = 'breaks its own output schema: "grams" must be number'
    expect(stage.lines('breaks its own output schema')).toMatchObject([
      { level: 'warn', fields: { tool: 'weigh' }, message: expect.stringContaining(message) },
    ])
  })

  test('of a tool with an unusable output schema goes through, with a warning', async () => {
    const stage = await startCalls()
    expect(await stage.host.callTool('it.weigh-unusable')).toMatchObject({
      structuredContent: { grams: 'any' },
    })
    expect(stage.lines('its output schema is unusable')).toMatchObject([
      { level: 'warn', fields: { server: 'it', tool: 'weigh-unusable' } },
    ])
  })

  test('that says that the tool failed is thrown where the caller asks for it', async () => {
    const stage = await startCalls()
    const options = { throwToolErrors: true, requestId: 'r5' }
    const error = await stage.host.callTool('it.fail', {}, options).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(ToolExecutionError)
    expect(error).toMatchObject({
      code: 'tool-execution',
      message: 'it.fail failed: it went wrong',
      server: 'it',
      tool: 'fail',
      requestId: 'r5',
      result: { isError: true, content: [{ type: 'text', text: 'it went wrong' }] },
    })
    await expect(stage.host.callTool('it.fail-dumb', {}, options)).rejects.toThrow(
      'it.fail-dumb failed: it gives no reason',
    )
    expect(await stage.host.callTool('it.say', { text: 'ok' }, options)).toBeDefined()
  })
})

test('arguments that are no JSON are refused, and cost the server nothing', async () => {
  const stage = await startCalls()
  const call = stage.host.callTool('it.say', { text: 1n }, { requestId: 'r' })
  await expect(call).rejects.toMatchObject({
    name: 'ValidationError',
    message: expect.stringContaining('it.say: the arguments are no JSON'),
    tool: 'say',
    requestId: 'r',
  })
  expect(stage.host.getMetrics().servers['it']?.calls.inFlight).toBe(0)
  expect(await stage.say('it.heard')).toBe('')
  expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
})

test('what the caller adds to the request goes with it', async () => {
  const stage = await startCalls()
  const meta = { traceparent: '00-1-2-01' }
  const result = await stage.host.callTool('it.meta', {}, { meta, timeoutMs: 5000 })
  expect(JSON.parse(textOf(result))).toEqual(meta)
  const watched = await stage.host.callTool('it.meta', {}, { meta, onProgress: () => undefined })
  expect(JSON.parse(textOf(watched))).toEqual({ ...meta, progressToken: expect.any(Number) })
})

describe('a tool that is not allowed', () => {
  test('is not listed, cannot be called, and who tries is told of', async () => {
    const stage = await startCalls({ tools: { allow: ['say', 'die*', 'h*'], deny: ['die-*'] } })
    const events: HostEvent[] = []
    stage.host.on('security', (event) => events.push(event))
    expect(stage.toolsOf('it').toSorted()).toEqual(['die', 'hang', 'heard', 'hold', 'say'])
    expect(await stage.say('it.say', { text: 'ok' })).toBe('ok')

    const denied = stage.host.callTool({ server: 'it', tool: 'die-twice' }, {}, { requestId: 'r' })
    await expect(denied).rejects.toMatchObject({
      name: 'ValidationError',
      message: 'there is no tool "it.die-twice"',
      requestId: 'r',
    })
    await expect(stage.host.callTool('it.ill')).rejects.toThrow('there is no tool "it.ill"')
    const reason = 'the tool is not allowed'
    expect(events).toEqual([
      { type: 'security', server: 'it', tool: 'die-twice', reason },
      { type: 'security', server: 'it', tool: 'ill', reason },
    ])
    expect(stage.lines('a call was refused')).toMatchObject([
      { level: 'warn', fields: { server: 'it', tool: 'die-twice' } },
      { level: 'warn', fields: { server: 'it', tool: 'ill' } },
    ])
    await expect(stage.host.callTool('it.say', { text: 'a\0b' })).rejects.toMatchObject({
      issues: [{ argument: 'text', expected: 'must not contain a NUL character' }],
    })
    expect(await stage.workspace.lines('log')).toEqual(['start'])
  })
})
