import type { Bus, ServedRequest } from '@mcp-host/bus'
import type {
  ModelUsage,
  RunToolRequest,
  SessionId,
  ToolFact,
  ToolFinished,
} from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  shardOf,
  toolOutcome,
  toolProgress,
  traceId,
} from '@mcp-host/contracts'
import { winningStart } from '@mcp-host/session-state'
import type { InFlight } from '@mcp-host/async'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import { isObject } from '@mcp-host/json'
import type { ServerRequestCallback, Upstream } from '@mcp-host/upstream'
import { followLink, type ShowLink } from '../steps/follow-link.ts'
import type { ServeCall } from '../steps/serve-call.ts'
import type { SupervisorEvents } from './events.ts'
import type { Subjects } from '../subjects.ts'
import type { RunningCalls } from './running-calls.ts'
import { fromError, fromResult } from './call-result.ts'
import { ProgressReporter } from './report-progress.ts'

/** The time limit for a login after its page was opened. */
const LINK_LIMIT_MS = 600_000

export interface RunToolDeps {
  readonly bus: Bus
  readonly subjects: Pick<Subjects, 'toolCall'>
  readonly upstream: Pick<Upstream, 'callTool'>
  /** Resolves once the server is ready or has failed to start. */
  readonly started: Promise<void>
  readonly logger: Logger
  readonly events: SupervisorEvents
  readonly serve: ServeCall
  /** The callback that asks the user of a session. */
  readonly callbackOf: (session: SessionId) => ServerRequestCallback
  /** Aborts when the server ends at this supervisor. The outcomes of its calls are then unknown. */
  readonly closed: AbortSignal
  /** Aborts before that, when calls no longer wait for their users. */
  readonly leaving: AbortSignal
  /** Calls in flight, which a drain waits for. */
  readonly running: InFlight
  /** The running calls, by which requests of the server find their session. */
  readonly calls: RunningCalls
}

/** Accepts a tool call of a turn and starts it. Its start and result are stored in the session's log. */
export function startToolCall(
  deps: RunToolDeps,
  server: string,
  served: ServedRequest<RunToolRequest>,
): { supervisor: string } {
  const under = deps.running.begin()
  void runAndRecord(deps, server, served)
    .catch((err: unknown) => {
      const about = { ...fields(server, served), action: 'record', err }
      deps.logger.error(about, 'a tool call was lost')
    })
    .finally(() => under[Symbol.dispose]())
  return { supervisor: deps.bus.id }
}

async function runAndRecord(
  deps: RunToolDeps,
  server: string,
  served: ServedRequest<RunToolRequest>,
): Promise<void> {
  const { bus, subjects, logger, events } = deps
  const { request, envelope } = served
  const { session, call } = request
  const cancel = new AbortController()
  let cancelledAt: number | undefined
  // Served while the call runs. Callers take a missing answer for its end.
  using _control = subjects.toolCall(call, (reason = 'the call was cancelled') => {
    cancelledAt ??= performance.now()
    cancel.abort(new BusError('cancelled', reason))
  })
  const append = (fact: ToolFact, messageId: string): Promise<{ seq: number }> =>
    bus.sessions.append(
      session,
      { kind: 'tool', fact },
      {
        envelope: childEnvelope(envelope),
        messageId,
        patienceMs: 60_000,
      },
    )
  if (!(await wonStart(deps, request, append))) return
  events.callStarted()
  const result = await callTool(deps, server, served, cancel.signal)
  const outcome = toolOutcome(result)
  const { durationMs, error, blob } = result
  const ended = { server, outcome, durationMs }
  events.callEnded(ended)
  if (cancelledAt !== undefined && outcome === 'cancelled')
    events.callCancelled(ended, performance.now() - cancelledAt)
  logger.debug(
    {
      ...fields(server, served),
      action: 'end',
      outcome,
      durationMs,
      blob: blob?.key,
      err: error,
      recovery: error?.recovery,
    },
    'tool call ended',
  )
  // Without a result, the orchestrator detects that the call is not running, and decides whether to repeat it.
  if (deps.closed.aborted && result.error?.code === 'unavailable') return
  await append(result, `${call}:result:${bus.id}:${request.attempt}`)
}

/** Records the start. Only the first start of an attempt may run, and none after the end of the call. */
async function wonStart(
  { bus }: RunToolDeps,
  { session, call, attempt, after }: RunToolRequest,
  append: (fact: ToolFact, messageId: string) => Promise<{ seq: number }>,
): Promise<boolean> {
  const nonce = crypto.randomUUID()
  const start = { type: 'tool-started' as const, call, attempt, supervisor: bus.id, nonce }
  const { seq } = await append(start, `${call}:start:${nonce}`)
  // A replica of the broker may lack this entry and earlier ones.
  const entries = await bus.sessions.read(session, after, { through: seq })
  return winningStart(entries, call, attempt) === nonce
}

async function callTool(
  { bus, upstream, started, logger, calls, serve, callbackOf, leaving }: RunToolDeps,
  server: string,
  served: ServedRequest<RunToolRequest>,
  cancelled: AbortSignal,
): Promise<ToolFinished> {
  const { request, envelope } = served
  const { session, call, attempt, tool, arguments: args, options } = request
  const ended = new AbortController()
  const signal = AbortSignal.any([cancelled, ended.signal])
  const usage: ModelUsage[] = []
  using _known = calls.add({ session, call, attempt, server, tool, envelope, usage, signal })
  const store = (bytes: Uint8Array, mimeType: string): Promise<ToolFinished['blob']> =>
    bus.blobs.put(bytes, { session, mimeType }).catch((err: unknown) => {
      // The tool has run, so its result must not look like a failure.
      logger.warn({ ...fields(server, served), action: 'store', err }, 'only an excerpt is kept')
      return undefined
    })
  using progress = new ProgressReporter((report) =>
    bus.emit(toolProgress, { session, shard: shardOf(session) }, { call, server, tool, ...report }),
  )
  const begin = performance.now()
  const callOptions = {
    ...options,
    signal: cancelled,
    requestId: envelope.requestId,
    sessionId: session,
    correlationId: traceId(envelope),
    onProgress: (report: Parameters<ProgressReporter['push']>[0]) => progress.push(report),
  }
  const send = (): ReturnType<typeof upstream.callTool> =>
    upstream.callTool(tool, args, callOptions)
  const showLink: ShowLink = (link, done) => {
    const cause = { tool, requestId: envelope.requestId }
    const ask = async (withdrawn: AbortSignal): Promise<string> => {
      const params = { mode: 'url' as const, elicitationId: crypto.randomUUID(), ...link }
      const question = { kind: 'elicitation' as const, server, call: cause, params }
      const answer = await callbackOf(session)({ ...question, signal: withdrawn })
      return isObject(answer) ? String(answer['action']) : 'cancel'
    }
    const over = AbortSignal.any([signal, leaving])
    return followLink(ask, done, { signal: over, limitMs: LINK_LIMIT_MS })
  }
  const about = { envelope, server, tool, call, session, arguments: args, usage }
  const sent = { ...about, cancelled: () => cancelled, showLink, send }
  const outcome = await unlessAborted(started, cancelled)
    .then(() => serve(sent))
    .finally(() => ended.abort())
    .then((result) => fromResult(result, store))
    .catch(fromError)
  const durationMs = Math.round((performance.now() - begin) * 1_000) / 1_000
  const taken = usage.length === 0 ? {} : { usage }
  // A call that was cancelled on purpose needs no recovery.
  const recovery = outcome.error?.code === 'cancelled' ? {} : { recovery: 'tell-model' as const }
  const failure =
    outcome.error === undefined ? {} : { error: { ...outcome.error, attempt, ...recovery } }
  return { type: 'tool-finished', call, server, tool, ...outcome, ...failure, durationMs, ...taken }
}

/** Awaits a promise. Throws the signal's reason when the signal aborts first. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const cut = Promise.withResolvers<never>()
  const onAbort = (): void => cut.reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    await Promise.race([promise, cut.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function fields(
  server: string,
  { request, envelope }: ServedRequest<RunToolRequest>,
): Record<string, unknown> {
  return {
    ...requestFields(envelope),
    component: 'tool',
    sessionId: request.session,
    call: request.call,
    attempt: request.attempt,
    server,
    tool: request.tool,
  }
}
