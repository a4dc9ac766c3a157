import type { Bus } from '@mcp-host/bus'
import type { LogEntry, LogFact, RunToolRequest, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope, traceId } from '@mcp-host/contracts'
import { createLogger, InFlight } from '@mcp-host/service'
import { ServerUnavailableError } from 'mcp-host'
import { beforeEach, expect, test, vi } from 'vitest'
import type { EndedCall } from '../events.ts'
import { bindSubjects } from '../handlers/index.ts'
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
/** What others store just before our own start is. */
let before: Pick<LogEntry, 'kind' | 'fact'>[]
let ran: unknown[]
/** Who asks after the call now gets an answer. */
let answers: boolean
let control: (action: 'ping' | 'cancel') => void
let storeFails: boolean
let cancelled: unknown[]
/** How calls ended, as they are counted. */
let outcomes: string[]
let deps: RunToolDeps
let closing: AbortController
beforeEach(() => {
  entries = []
  before = []
  ran = []
  answers = false
  storeFails = false
  cancelled = []
  outcomes = []
  const bus = {
    id: 'us',
    serve(_: unknown, __: unknown, handler: (served: unknown) => void) {
      answers = true
      control = (action) => handler({ request: { action } })
      return { [Symbol.dispose]: () => void (answers = false) }
    },
    sessions: {
      append: async (_: unknown, entry: Pick<LogEntry, 'kind' | 'fact'>) => ({
        seq: entries.push(...before.splice(0), entry),
      }),
      // A replica that lags has only what it is told to have.
      read: async (_: unknown, after: number, { through = 0 } = {}) =>
        entries.slice(after, through),
    },
    blobs: {
      put: async (bytes: Uint8Array, about: unknown) => {
        if (storeFails) throw new Error('away')
        expect(about).toEqual({ session: request.session, mimeType: 'application/json' })
        return { key: 'k', bytes: bytes.length, digest: 'd' }
      },
    },
  } as unknown as Bus
  const host = {
    async callTool(...args: unknown[]) {
      ran.push(args[0], args[1])
      return { content: [{ type: 'text', text: 'done' }] }
    },
  } as unknown as RunToolDeps['host']
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
    host,
    started: Promise.resolve(),
    logger,
    events,
    closed,
    running: new InFlight(),
    calls: new RunningCalls(),
  }
})

async function run(more: Partial<RunToolRequest> = {}): Promise<void> {
  expect(startToolCall(deps, 'test', { request: { ...request, ...more }, envelope })).toEqual({
    supervisor: 'us',
  })
  expect(answers).toBe(true)
  await deps.running.idle()
}

function foreignStart(attempt: number): Pick<LogEntry, 'kind' | 'fact'> {
  const { call } = request
  const fact = { type: 'tool-started' as const, call, attempt, supervisor: 'other', nonce: 'x' }
  return { kind: 'tool', fact }
}

test('a call is made with the time-out, priority and retries that come with it', async () => {
  const options = { timeoutMs: 5, priority: 'high' as const, retry: { maxRetries: 1 } }
  const given = vi.fn<RunToolDeps['host']['callTool']>(async () => ({ content: [] }))
  deps = { ...deps, host: { callTool: given } }
  await run({ options })
  expect(given.mock.lastCall?.[2]).toMatchObject({ ...options, requestId: envelope.requestId })
})

test('a call is started in the log, run, and its result recorded', async () => {
  await run()
  expect(ran).toEqual([{ server: 'test', tool: 'echo' }, { text: 'hi' }])
  expect(entries.map(({ fact }) => fact)).toMatchObject([
    { type: 'tool-started', call: request.call, attempt: 1, supervisor: 'us' },
    { type: 'tool-finished', outcome: 'ok', content: [{ text: 'done' }] },
  ])
  expect(answers).toBe(false)
  expect(deps.running.count).toBe(0)
})

test('the log lines of a call can be found by its session and its trace', async () => {
  let given: unknown
  deps.host.callTool = async (_, __, options) => {
    given = options
    return { content: [] }
  }
  await run()
  const { requestId } = envelope
  const ids = { requestId, sessionId: request.session, correlationId: traceId(envelope) }
  expect(given).toMatchObject(ids)
})

test('a call that the end of its server cut off is left open, one that ended before is not', async () => {
  const { host } = deps
  const callTool: RunToolDeps['host']['callTool'] = async () => {
    throw new ServerUnavailableError('the host is shut down', { server: 'test' })
  }
  deps = { ...deps, host: { callTool } }
  closing.abort()
  await run()
  expect(entries.map(({ fact }) => fact)).toMatchObject([{ type: 'tool-started' }])
  expect(answers).toBe(false)
  deps = { ...deps, host }
  await run({ attempt: 2 })
  expect(entries.at(-1)?.fact).toMatchObject({ type: 'tool-finished', outcome: 'ok' })
})

test('an attempt that another supervisor started first is left to it', async () => {
  before = [foreignStart(1)]
  await run()
  expect(ran).toEqual([])
  expect(entries).toHaveLength(2)
})

test('a new attempt runs although an older one was started', async () => {
  before = [foreignStart(1)]
  await run({ attempt: 2 })
  expect(ran).not.toEqual([])
})

test('a call that was closed meanwhile is not run any more', async () => {
  // A supervisor that was frozen, and thawed after the model had been told "refused" or "unknown".
  const { call } = request
  before = [
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
])('a call whose %s is not run any more', async (_, entry) => {
  before = [entry]
  await run()
  expect(ran).toEqual([])
})

test('a call runs although another message may be cancelled, and whatever cannot be read', async () => {
  before = [
    { kind: 'control', fact: { type: 'cancel-requested', messageId: 'other' } },
    { kind: 'unreadable', fact: undefined },
  ]
  await run()
  expect(ran).not.toEqual([])
})

test('what became of other calls does not matter', async () => {
  const other = `${request.call}1` as ToolCallId
  before = [{ kind: 'tool', fact: { ...foreignStart(1).fact, call: other } as never }]
  await run()
  expect(ran).not.toEqual([])
})

test('a call that failed is recorded with its reason', async () => {
  deps.host.callTool = async () => {
    throw new Error('bad luck')
  }
  await run({ attempt: 2 })
  const error = { code: 'internal', attempt: 2, recovery: 'tell-model' }
  expect(entries.at(-1)?.fact).toMatchObject({ outcome: 'error', error })
})

test('who cancels a call ends it at the server', async () => {
  deps.host.callTool = async (_, __, options) => {
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

test('a cancel that comes when the server has answered changes nothing', async () => {
  deps.host.callTool = async () => {
    control('cancel')
    return { content: [] }
  }
  await run()
  expect(entries.at(-1)?.fact).toMatchObject({ outcome: 'ok' })
  expect(cancelled).toEqual([])
})

test('a call that asked the user something before its supervisor died runs anew', async () => {
  const { call } = request
  const about = { call, server: 'test', tool: 'echo', id: 'q', message: '', expiresAt: 0 }
  before = [
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

test('what a server asks belongs to the call while it runs, and not afterwards', async () => {
  const { session, call } = request
  let signal: AbortSignal | undefined
  deps.host.callTool = async (_, __, options) => {
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
  ['not stored, when the store is away', true, undefined],
])('a large result is recorded as an excerpt and %s', async (_, fails, blob) => {
  storeFails = fails
  deps.host.callTool = async () => ({ content: [{ type: 'text', text: 'x'.repeat(600_000) }] })
  await run()
  const result = entries.at(-1)?.fact
  expect(result).toMatchObject({
    outcome: 'ok',
    content: [{ text: expect.stringMatching(/^x+$/) }, {}],
  })
  expect(result && 'blob' in result ? result.blob : undefined).toEqual(blob)
})
