import { describe, expect, test, vi } from 'vitest'

import { hold, startCalls, stopTime } from '../test/calls-stage.ts'
import { textOf } from '@mcp-host/mcp-testkit'
import {
  type CallToolOptions,
  type CallToolResult,
  type HostEvent,
  type Progress,
  ToolExecutionError,
} from './index.ts'

describe('the time limit of a call', () => {
  test('the time limit of a call is one of silence: progress extends it up to the maximum', async () => {
    const stage = await startCalls({ timeoutMs: 1000, maxTimeoutMs: 2500 })
    stopTime()
    const { outcome } = await hold(stage, { requestId: 'r1' })
    for (const _ of [1, 2]) {
      await vi.advanceTimersByTimeAsync(900)
      await stage.call('it.step')
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
    expect(await stage.call('it.received')).toContain('cancelled:it took too long')
  })

  test('the time limit of a call ends a call that falls silent after progress', async () => {
    const stage = await startCalls({ timeoutMs: 1000 })
    stopTime()
    const { outcome } = await hold(stage)
    await vi.advanceTimersByTimeAsync(999)
    await stage.call('it.step')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await outcome).toMatchObject({ code: 'timeout', timeoutMs: 1000 })
  })

  test('the time limit that the caller sets for a call is not extended', async () => {
    const stage = await startCalls()
    stopTime()
    const { outcome } = await hold(stage, { timeoutMs: 1000 })
    await vi.advanceTimersByTimeAsync(900)
    await stage.call('it.step')
    await vi.advanceTimersByTimeAsync(100)
    expect(await outcome).toMatchObject({ code: 'timeout', timeoutMs: 1000 })
  })

  test('the time limit of a call is extended up to the maximum of the caller', async () => {
    const stage = await startCalls()
    stopTime()
    const { outcome } = await hold(stage, { timeoutMs: 1000, maxTimeoutMs: 1500 })
    await vi.advanceTimersByTimeAsync(900)
    await stage.call('it.step')
    await vi.advanceTimersByTimeAsync(600)
    expect(await outcome).toMatchObject({ timeoutMs: 1500 })
  })

  test('the time limit of a call never exceeds the maximum', async () => {
    const stage = await startCalls({}, { defaultToolTimeoutMs: 5000, maxToolTimeoutMs: 700 })
    stopTime()
    const { outcome } = await hold(stage)
    await vi.advanceTimersByTimeAsync(700)
    expect(await outcome).toMatchObject({ timeoutMs: 700 })
  })

  test('the time limit of a call may be infinite, including a call that reports progress', async () => {
    const stage = await startCalls()
    const seen: Progress[] = []
    const options = { timeoutMs: Infinity, onProgress: (report: Progress) => seen.push(report) }
    const { outcome } = await hold(stage, options)
    await stage.call('it.step')
    await stage.call('it.step')
    await stage.call('it.release')
    expect(await outcome).toBe('released')
    expect(seen).toHaveLength(2)
  })
})

test('progress reaches only its own call, as the server reports it', async () => {
  const stage = await startCalls()
  const seen: Record<string, Progress[]> = { a: [], b: [] }
  const a = await hold(stage, { onProgress: (progress) => seen['a']?.push(progress) })
  await stage.call('it.step')
  const b = await hold(stage, { onProgress: (progress) => seen['b']?.push(progress) })
  await stage.call('it.step')
  await stage.call('it.release')
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
])('a progress callback that %s affects no call and is logged', async (_title, onProgress) => {
  const stage = await startCalls()
  const other = await hold(stage)
  const { outcome } = await hold(stage, { onProgress })
  await stage.call('it.step')
  await stage.call('it.release')
  expect(await outcome).toBe('released')
  expect(await other.outcome).toBe('released')
  const err = expect.objectContaining({ message: 'onProgress failed' })
  expect(stage.logged).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      fields: expect.objectContaining({ server: 'it', err }),
    }),
  )
})

describe('a cancellation', () => {
  test('a cancellation by signal throws its reason and reaches the server', async () => {
    const stage = await startCalls()
    const abort = new AbortController()
    const { outcome } = await hold(stage, { signal: abort.signal })
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await outcome).toBe(reason)
    expect(await stage.call('it.received')).toBe('cancelled:the caller cancelled it')
    expect(stage.host.getMetrics().servers['it']?.tools['hold']).toMatchObject({ cancelled: 1 })
  })

  test('a cancellation by request id ends every call with the id, and no other', async () => {
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
    expect((await stage.call('it.received')).match(/cancelled:/g)).toHaveLength(2)
    expect(stage.host.abort('turn-2', 'the user left')).toBe(true)
    expect(await other.outcome).toBe('the user left')
  })

  test('a call with a request id can still be cancelled by its signal', async () => {
    const stage = await startCalls()
    const abort = new AbortController()
    const { outcome } = await hold(stage, { requestId: 'r', signal: abort.signal })
    abort.abort('mine')
    expect(await outcome).toBe('mine')
  })

  test('a call that is cancelled in the queue is never sent to the server', async () => {
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

test('a saturated server gets calls by their priority', async () => {
  const stage = await startCalls({ maxConcurrentCalls: 1 })
  const { outcome } = await hold(stage)
  const order: string[] = []
  const callSay = (text: string, options: CallToolOptions): Promise<unknown> =>
    stage.host.callTool('it.say', { text }, options).then((result) => order.push(textOf(result)))
  const calls = [
    callSay('low', { priority: 'low' }),
    callSay('normal', {}),
    callSay('high', { priority: 'high' }),
    callSay('normal too', { priority: 'normal' }),
  ]
  process.kill(stage.find('it').pid ?? 0, 'SIGUSR2')
  await Promise.all([outcome, ...calls])
  expect(order).toEqual(['high', 'normal', 'normal too', 'low'])
})

test('a thousand concurrent calls all get their own answer', async () => {
  const stage = await startCalls()
  const numbers = Array.from({ length: 1000 }, (_, index) => String(index))
  const answers = await Promise.all(numbers.map((text) => stage.call('it.say', { text })))
  expect(answers).toEqual(numbers)
  expect(stage.host.getMetrics().servers['it']?.tools['say']).toMatchObject({
    count: 1000,
    success: 1000,
    inFlight: 0,
  })
})

describe('a result', () => {
  test('a result is returned as received, including unknown fields', async () => {
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
    'a malformed result is a protocol error: %j',
    async (result) => {
      const stage = await startCalls()
      await expect(stage.host.callTool('it.raw', { result })).rejects.toMatchObject({
        name: 'ProtocolError',
        rpcCode: undefined,
        message: 'it.raw answered with a malformed result',
      })
    },
  )

  test('a result must match the output schema of its tool under strict validation', async () => {
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

  test('a result that breaks its output schema is returned with one warning', async () => {
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

  test('a result of a tool with an invalid output schema is returned with a warning', async () => {
    const stage = await startCalls()
    expect(await stage.host.callTool('it.weigh-unusable')).toMatchObject({
      structuredContent: { grams: 'any' },
    })
    expect(stage.lines('its output schema is unusable')).toMatchObject([
      { level: 'warn', fields: { server: 'it', tool: 'weigh-unusable' } },
    ])
  })

  test('a result with an error is thrown when the caller requests that', async () => {
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

test('arguments that cannot be written as JSON are refused without affecting the server', async () => {
  const stage = await startCalls()
  const call = stage.host.callTool('it.say', { text: 1n }, { requestId: 'r' })
  await expect(call).rejects.toMatchObject({
    name: 'ValidationError',
    message: expect.stringContaining('it.say: the arguments are no JSON'),
    tool: 'say',
    requestId: 'r',
  })
  expect(stage.host.getMetrics().servers['it']?.calls.inFlight).toBe(0)
  expect(await stage.call('it.received')).toBe('')
  expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
})

test('the metadata of a caller is sent with the request', async () => {
  const stage = await startCalls()
  const meta = { traceparent: '00-1-2-01' }
  const result = await stage.host.callTool('it.meta', {}, { meta, timeoutMs: 5000 })
  expect(JSON.parse(textOf(result))).toEqual(meta)
  const watched = await stage.host.callTool('it.meta', {}, { meta, onProgress: () => undefined })
  expect(JSON.parse(textOf(watched))).toEqual({ ...meta, progressToken: expect.any(Number) })
})

describe('a tool that is not allowed', () => {
  test('a tool that is not allowed is not listed, and calls of it are refused with a security event', async () => {
    const stage = await startCalls({
      tools: { allow: ['say', 'die*', 'h*', 'rec*'], deny: ['die-*'] },
    })
    const events: HostEvent[] = []
    stage.host.on('security', (event) => events.push(event))
    expect(stage.toolsOf('it').toSorted()).toEqual(['die', 'hang', 'hold', 'received', 'say'])
    expect(await stage.call('it.say', { text: 'ok' })).toBe('ok')

    const denied = stage.host.callTool({ server: 'it', tool: 'die-twice' }, {}, { requestId: 'r' })
    await expect(denied).rejects.toMatchObject({
      name: 'ValidationError',
      message: 'there is no tool "it.die-twice"',
      requestId: 'r',
    })
    await expect(stage.host.callTool('it.faulty')).rejects.toThrow('there is no tool "it.faulty"')
    const reason = 'the tool is not allowed'
    expect(events).toEqual([
      { type: 'security', server: 'it', tool: 'die-twice', reason },
      { type: 'security', server: 'it', tool: 'faulty', reason },
    ])
    expect(stage.lines('a call was refused')).toMatchObject([
      { level: 'warn', fields: { server: 'it', tool: 'die-twice' } },
      { level: 'warn', fields: { server: 'it', tool: 'faulty' } },
    ])
    await expect(stage.host.callTool('it.say', { text: 'a\0b' })).rejects.toMatchObject({
      issues: [{ argument: 'text', expected: 'must not contain a NUL character' }],
    })
    expect(await stage.workspace.lines('log')).toEqual(['start'])
  })
})
