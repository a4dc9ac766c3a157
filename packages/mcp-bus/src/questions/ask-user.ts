import type { Bus } from '@mcp-host/bus'
import type { InputRequired, ToolFact } from '@mcp-host/contracts'
import type { QuestionEnd } from '@mcp-host/session-state'
import { BusError, childEnvelope, InputRequired as Schema } from '@mcp-host/contracts'
import { questionEnd } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { ServerRequest } from '@mcp-host/upstream'
import type { RunningCall } from '../tool-calls/running-calls.ts'

/** The limit for questions, since larger ones are not readable. */
const MAX_QUESTION_BYTES = 64 * 1024

export interface AskUserDeps {
  readonly bus: Bus
  readonly logger: Logger
  /** The time limit for an answer. Default 300,000. */
  readonly inputTimeoutMs?: number
}

/** The result of an elicitation, in the words of MCP. */
export interface UserAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, unknown>>
}

/**
 * Stores a question in the session's log and waits for its first end there. Resolves with `cancel` when there is no
 * answer in time and during the call. Throws `invalid` when the question cannot be asked, `unavailable` when the log is
 * away.
 */
export async function askUser(
  deps: AskUserDeps,
  call: RunningCall,
  { params, signal }: Extract<ServerRequest, { kind: 'elicitation' }>,
): Promise<UserAnswer> {
  const { logger, inputTimeoutMs = 300_000 } = deps
  const question = toQuestion(call, params, deps.bus.clock.now() + inputTimeoutMs)
  const fields = {
    ...requestFields(call.envelope),
    component: 'input',
    sessionId: call.session,
    call: call.call,
    server: call.server,
    tool: call.tool,
    question: question.id,
  }
  const given = new AbortController()
  const over = AbortSignal.any([signal, call.signal, given.signal])
  if (over.aborted) return { action: 'cancel' }
  const { seq } = await append(deps, call, question)
  logger.info({ ...fields, action: 'ask', mode: question.mode }, 'the user is asked')
  const close = (reason: 'expired' | 'withdrawn'): void => {
    const fact = { type: 'input-closed' as const, call: call.call, id: question.id, reason }
    append(deps, call, fact).catch((err: unknown) => {
      // A question without a time limit must not stay open. Otherwise the end of the call closes it.
      logger.warn({ ...fields, action: 'close', err }, 'a question was not closed')
      given.abort()
    })
  }
  const late = setTimeout(close, inputTimeoutMs, 'expired')
  // The end of the call closes its questions anyway.
  const onWithdrawn = (): void => {
    if (!call.signal.aborted) close('withdrawn')
  }
  signal.addEventListener('abort', onWithdrawn)
  // The question may have been withdrawn while it was stored.
  if (signal.aborted) onWithdrawn()
  try {
    const end = await endOf(deps, call, question, seq, over)
    logger.info({ ...fields, action: 'end', state: end?.state }, 'a question ended')
    return toAnswer(end)
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', onWithdrawn)
  }
}

/** The question in the form of the log. Throws `invalid` for one that must not reach a user. */
function toQuestion(
  { call, attempt, server, tool }: RunningCall,
  params: Extract<ServerRequest, { kind: 'elicitation' }>['params'],
  expiresAt: number,
): InputRequired {
  if (Buffer.byteLength(JSON.stringify(params)) > MAX_QUESTION_BYTES) {
    const message = `an elicitation may have ${MAX_QUESTION_BYTES} bytes; ask for less at a time`
    throw new BusError('exhausted', message)
  }
  const parsed = Schema.safeParse({
    type: 'input-required',
    call,
    attempt,
    server,
    tool,
    id: crypto.randomUUID(),
    kind: 'elicitation',
    message: params.message,
    expiresAt,
    ...(params.mode === 'url'
      ? { mode: 'url', url: webAddress(params.url) }
      : { mode: 'form', requestedSchema: params.requestedSchema }),
  })
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'elicitation')
  return parsed.data
}

/** Checks a link. Other schemes could run code or open programs when the user follows the link. */
function webAddress(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href
  throw new BusError('invalid', 'elicitation: url must begin with https:// or http://')
}

/** The end of the question in the log; `undefined` when the call ended earlier. */
async function endOf(
  { bus }: AskUserDeps,
  { session }: RunningCall,
  question: InputRequired,
  after: number,
  signal: AbortSignal,
): Promise<QuestionEnd | undefined> {
  for await (const item of bus.sessions.follow(session, { after, deltas: false, signal })) {
    const end = item.type === 'entry' ? questionEnd(question, item.entry) : undefined
    if (end !== undefined) return end
  }
  return undefined
}

function toAnswer(end: QuestionEnd | undefined): UserAnswer {
  if (end?.state !== 'answered') return { action: 'cancel' }
  const { action, content } = end.answer
  return action === 'accept' && content !== undefined ? { action, content } : { action }
}

function append(
  { bus }: AskUserDeps,
  { session, envelope }: RunningCall,
  fact: Extract<ToolFact, { id: string }>,
): Promise<{ seq: number }> {
  const options = { envelope: childEnvelope(envelope), messageId: `${fact.type}:${fact.id}` }
  return bus.sessions.append(session, { kind: 'tool', fact }, options)
}
