import type { AuditRecord } from '@mcp-host/audit'
import { serveThrough } from '../steps/serve-call.ts'
import { audited } from '../steps/audited.ts'
import type { Bus } from '@mcp-host/bus'
import type { LogEntry, LogFact, RunToolRequest, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope, traceId } from '@mcp-host/contracts'
import { InFlight } from '@mcp-host/async'
import { createLogger } from '@mcp-host/service'
import { ServerUnavailableError } from '@mcp-host/upstream'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { EndedCall } from './events.ts'
import { bindSubjects } from '../subjects.ts'
import { RunningCalls } from './running-calls.ts'
import type { RunToolDeps } from './run-tool.ts'
import { startToolCall } from './run-tool.ts'

const envelope = newEnvelope('local')
const request: RunToolRequest = {
  session: 'session' as SessionId,
  call: 'session-0-0' as ToolCallId,
  attempt: 1,
  tool: 'echo',
  arguments: { text: 'hi' },
  after: 0,
}

let entries: Pick<LogEntry, 'kind' | 'fact'>[]
/** Entries that other processes append just before the start of the call is recorded. */
let concurrentEntries: Pick<LogEntry, 'kind' | 'fact'>[]
/** Server, tool and arguments of calls that reached the server. */
let ran: unknown[]
/** Whether the control subject of the call is served. */
let isControlServed: boolean
let control: (action: 'ping' | 'cancel') => void
let isStoreDown: boolean
let cancelled: unknown[]
/** Outcomes as the metrics count them. */
let outcomes: string[]
let deps: RunToolDeps
let closing: AbortController
beforeEach(() => {
  entries = []
  concurrentEntries = []
  ran = []
  isControlServed = false
  isStoreDown = false
  cancelled = []
  outcomes = []
  const bus = {
    id: 'us',
    serve(_: unknown, __: unknown, handler: (served: unknown) => void) {
      isControlServed = true
      control = (action) => handler({ request: { action } })
      return { [Symbol.dispose]: () => void (isControlServed = false) }
    },
    sessions: {
      append: async (_: unknown, entry: Pick<LogEntry, 'kind' | 'fact'>) => ({
        seq: entries.push(...concurrentEntries.splice(0), entry),
      }),
      // As a lagging replica of the broker: only entries up to `through` are there.
      read: async (_: unknown, after: number, { through = 0 } = {}) =>
        entries.slice(after, through),
    },
    blobs: {
      put: async (bytes: Uint8Array, about: unknown) => {
        if (isStoreDown) throw new Error('the store is away')
        expect(about).toEqual({ session: request.session, mimeType: 'application/json' })
        return { key: 'k', bytes: bytes.length, digest: 'd' }
      },
    },
    // A tool call uses only these members.
  } as unknown as Bus
  const upstream = {
    async callTool(...args: unknown[]) {
      ran.push(args[0], args[1])
      return { content: [{ type: 'text', text: 'done' }] }
    },
    // A tool call uses only this method.
  } as unknown as RunToolDeps['upstream']
  const quiet = (): void => undefined
  const logger = createLogger('mcp-supervisor', 'silent')
  const events = {
    callStarted: quiet,
    callEnded: ({ outcome }: EndedCall) => void outcomes.push(outcome),
    callCancelled: (result: EndedCall, afterMs: number) =>
      void cancelled.push([result, afterMs >= 0]),
  }
  closing = new AbortController()
  const { signal: closed } = closing
  deps = {
    bus,
    subjects: bindSubjects(bus),
    upstream,
    serve: serveThrough([]),
    started: Promise.resolve(),
    logger,
    events,
    closed,
    running: new InFlight(),
    calls: new RunningCalls(),
    callbackOf: () => () => undefined,
    leaving: closed,
  }
})

async function run(more: Partial<RunToolRequest> = {}): Promise<void> {
  expect(startToolCall(deps, 'test', { request: { ...request, ...more }, envelope })).toEqual({
    supervisor: 'us',
  })
  expect(isControlServed).toBe(true)
  await deps.running.idle()
}

/** The entry of another supervisor that started a call. */
function foreignStart(attempt: number, call = request.call): Pick<LogEntry, 'kind' | 'fact'> {
  const fact = { type: 'tool-started' as const, call, attempt, supervisor: 'other', nonce: 'x' }
  return { kind: 'tool', fact }
}

test('a call runs with the time-out, priority and retries of its request', async () => {
  const options = { timeoutMs: 5, priority: 'high' as const, retry: { maxRetries: 1 } }
  const callTool = vi.fn<RunToolDeps['upstream']['callTool']>(async () => ({ content: [] }))
  deps = { ...deps, upstream: { callTool } }
  await run({ options })
  expect(callTool.mock.lastCall?.[2]).toMatchObject({ ...options, requestId: envelope.requestId })
})

test('a call records its start, runs, and records its result', async () => {
  await run()
  expect(ran).toEqual(['echo', { text: 'hi' }])
  expect(entries.map(({ fact }) => fact)).toMatchObject([
    { type: 'tool-started', call: request.call, attempt: 1, supervisor: 'us' },
    { type: 'tool-finished', outcome: 'ok', content: [{ text: 'done' }] },
  ])
  expect(isControlServed).toBe(false)
  expect(deps.running.count).toBe(0)
})

test('a call passes its request, session and trace ids to the host', async () => {
  let passedOptions: unknown
  deps.upstream.callTool = async (_, __, options) => {
    passedOptions = options
    return { content: [] }
  }
  await run()
  const { requestId } = envelope
  const ids = { requestId, sessionId: request.session, correlationId: traceId(envelope) }
  expect(passedOptions).toMatchObject(ids)
})

test('a call that fails while its server shuts down is left open for another attempt', async () => {
  const { upstream } = deps
  const callTool: RunToolDeps['upstream']['callTool'] = async () => {
    throw new ServerUnavailableError('the host is shut down', { server: 'test' })
  }
  deps = { ...deps, upstream: { callTool } }
  closing.abort()
  await run()
  expect(entries.map(({ fact }) => fact)).toMatchObject([{ type: 'tool-started' }])
  expect(isControlServed).toBe(false)
  deps = { ...deps, upstream }
  await run({ attempt: 2 })
  expect(entries.at(-1)?.fact).toMatchObject({ type: 'tool-finished', outcome: 'ok' })
})

test('an attempt that another supervisor started first does not run', async () => {
  concurrentEntries = [foreignStart(1)]
  await run()
  expect(ran).toEqual([])
  expect(entries).toHaveLength(2)
})

test('a new attempt runs although an earlier one was started', async () => {
  concurrentEntries = [foreignStart(1)]
  await run({ attempt: 2 })
  expect(ran).not.toEqual([])
})

test('a call that was settled before its start does not run', async () => {
  // A supervisor may be frozen until the model has received "refused" or "unknown".
  const { call } = request
  concurrentEntries = [
    {
      kind: 'turn',
      fact: {
        type: 'tool-settled',
        turn: 1,
        seen: 1,
        call,
        tool: 'test.echo',
        outcome: 'refused',
        message: 'no',
      },
    },
  ]
  await run()
  expect(ran).toEqual([])
})

test.each<[string, LogFact]>([
  [
    'turn is done',
    { kind: 'turn', fact: { type: 'turn-done', turn: 1, seen: 1, outcome: 'failed' } },
  ],
  ['turn is cancelled', { kind: 'control', fact: { type: 'cancel-requested' } }],
  ['session is deleted', { kind: 'control', fact: { type: 'session-deleted' } }],
  [
    'user stopped it',
    { kind: 'control', fact: { type: 'call-cancel-requested', call: request.call } },
  ],
])('a call whose %s does not run', async (_, entry) => {
  concurrentEntries = [entry]
  await run()
  expect(ran).toEqual([])
})

test('a call runs despite unreadable entries and the cancel of another message or call', async () => {
  const other = `${request.call}1` as ToolCallId
  concurrentEntries = [
    { kind: 'control', fact: { type: 'call-cancel-requested', call: other } },
    { kind: 'control', fact: { type: 'cancel-requested', messageId: 'other' } },
    { kind: 'unreadable', fact: undefined },
  ]
  await run()
  expect(ran).not.toEqual([])
})

test('a call runs although another call was started', async () => {
  const other = `${request.call}1` as ToolCallId
  concurrentEntries = [foreignStart(1, other)]
  await run()
  expect(ran).not.toEqual([])
})

test('a failed call is recorded with its error', async () => {
  deps.upstream.callTool = async () => {
    throw new Error('bad luck')
  }
  await run({ attempt: 2 })
  const error = { code: 'internal', attempt: 2, recovery: 'tell-model' }
  expect(entries.at(-1)?.fact).toMatchObject({ outcome: 'error', error })
})

test('a cancelled call is aborted at its server and recorded as cancelled', async () => {
  deps.upstream.callTool = async (_, __, options) => {
    const signal = options?.signal
    control('ping')
    expect(signal?.aborted).toBe(false)
    control('cancel')
    signal?.throwIfAborted()
    return { content: [] }
  }
  await run()
  expect(entries.at(-1)?.fact).toMatchObject({ outcome: 'error', error: { code: 'cancelled' } })
  const counted = { server: 'test', outcome: 'cancelled', durationMs: expect.any(Number) }
  expect(cancelled).toEqual([[counted, true]])
  expect(outcomes).toEqual(['cancelled'])
})

test('a cancel after the answer of the server has no effect', async () => {
  deps.upstream.callTool = async () => {
    control('cancel')
    return { content: [] }
  }
  await run()
  expect(entries.at(-1)?.fact).toMatchObject({ outcome: 'ok' })
  expect(cancelled).toEqual([])
})

test('a call whose supervisor died during an elicitation runs again', async () => {
  const { call } = request
  const about = { call, server: 'test', tool: 'echo', id: 'q', message: '', expiresAt: 0 }
  concurrentEntries = [
    foreignStart(1),
    {
      kind: 'tool',
      fact: { type: 'input-required', attempt: 1, kind: 'elicitation', mode: 'form', ...about },
    },
    { kind: 'tool', fact: { type: 'input-closed', call, id: 'q', reason: 'expired' } },
  ]
  await run({ attempt: 2 })
  expect(ran).not.toEqual([])
})

test('a request of a server is matched to its call only while the call runs', async () => {
  const { session, call } = request
  let signal: AbortSignal | undefined
  deps.upstream.callTool = async (_, __, options) => {
    const found = deps.calls.find(session, 'test', options?.requestId)
    expect(found).toMatchObject({ session, call, attempt: 1, server: 'test', tool: 'echo' })
    signal = found?.signal
    expect(signal?.aborted).toBe(false)
    return { content: [] }
  }
  await run()
  expect(signal?.aborted).toBe(true)
  expect(deps.calls.find(session, 'test')).toBeUndefined()
})

test.each([
  ['stored', false, { key: 'k', bytes: expect.any(Number), digest: 'd' }],
  ['not stored when the store is away', true, undefined],
])('a large result is recorded as an excerpt and %s', async (_, isDown, blob) => {
  isStoreDown = isDown
  deps.upstream.callTool = async () => ({ content: [{ type: 'text', text: 'x'.repeat(600_000) }] })
  await run()
  const result = entries.at(-1)?.fact
  expect(result).toMatchObject({
    outcome: 'ok',
    content: [{ text: expect.stringMatching(/^x+$/) }, {}],
  })
  expect(result && 'blob' in result ? result.blob : undefined).toEqual(blob)
})

describe('in the audit log', () => {
  let records: AuditRecord[]
  let stored: Promise<void> | undefined
  beforeEach(() => {
    records = []
    stored = undefined
    const record = (each: AuditRecord): Promise<void> | undefined => {
      records.push(each)
      return stored
    }
    deps = { ...deps, serve: serveThrough([audited({ record })]) }
  })

  test('a call has its start and its end, with its session and arguments', async () => {
    await run()
    const { session, call } = request
    const about = { principal: 'local', server: 'test', tool: 'echo', session, call }
    expect(records).toMatchObject([
      { action: 'tool-started', ...about, arguments: { text: 'hi' } },
      { action: 'tool-finished', ...about, outcome: 'ok' },
    ])
  })

  test('a call whose required entry cannot be stored does not run, and ends with the reason', async () => {
    stored = Promise.reject(new Error('away'))
    await run()
    expect(ran).toEqual([])
    const message = 'the audit log cannot be written, so the call was not run; try again'
    expect(entries.at(-1)?.fact).toMatchObject({
      outcome: 'error',
      error: { code: 'unavailable', message },
    })
  })

  test('a call that another supervisor runs has no entry of this one', async () => {
    concurrentEntries = [foreignStart(1)]
    await run()
    expect(records).toEqual([])
  })
})
