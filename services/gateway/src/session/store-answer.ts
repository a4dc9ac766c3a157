import type { Bus } from '@mcp-host/bus'
import type {
  Entrance,
  Envelope,
  InputAnswered,
  Principal,
  SessionId,
  Up,
} from '@mcp-host/contracts'
import type { Question, QuestionEnd } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import { checkAccess } from '../auth/access.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import { checkAnswer } from './check-answer.ts'
import { newestTurn } from './follow-session.ts'

/** The time limit for storing an answer. */
const PATIENCE_MS = 10_000

/** An answer to a question of a server, or of the host. */
export type Answer = Extract<Up, { type: 'answer' }>['payload']

export interface StoreAnswerDeps {
  readonly bus: Bus
  readonly audit: Pick<GatewayAudit, 'approvalAnswered'>
}

/**
 * Stores a user's answer to a question in the session's log. Resolves when it is the first answer. Errors: `not-found`
 * when no such question is open, `invalid` when the answer does not fit; both name the field. `AuthError` when
 * the principal may not approve tool calls.
 */
export async function storeAnswer(
  { bus, audit }: StoreAnswerDeps,
  session: SessionId,
  { id, action, content }: Answer,
  { principal: user, envelope }: { readonly principal: Principal; readonly envelope: Envelope },
): Promise<void> {
  const state = emptySession()
  const readOn = async (after: number, through: number): Promise<Question | undefined> => {
    for (const entry of await bus.sessions.read(session, after, { through }))
      applyEntry(state, entry)
    return state.questions.get(id)
  }
  const end = await bus.sessions.end(session)
  const { cursor } = await newestTurn(bus, session, end)
  // Only the running turn can have open questions.
  const question = await readOn(cursor.seq, end.seq)
  if (question === undefined) {
    const message = `answer: no question "${id}" is open in this session`
    throw new BusError('not-found', message, { field: 'id' })
  }
  if (question.end !== undefined) throw closed(question.end)
  const { asked } = question
  if (asked.type === 'approval-required') checkAccess(user, 'decide')
  const isForm = asked.type === 'input-required' && asked.mode === 'form'
  const values = action === 'accept' && isForm ? (content ?? {}) : undefined
  const faults =
    values === undefined || !isForm ? [] : checkAnswer(asked.requestedSchema ?? {}, values)
  if (faults[0] !== undefined) {
    const list = faults.map(({ field, message }) => `${field} ${message}`).join('; ')
    const field = `content.${faults[0].field}`
    throw new BusError('invalid', `answer: ${list}`, { field })
  }
  const fact: InputAnswered = {
    type: 'input-answered',
    id,
    action,
    ...(values === undefined ? {} : { content: { ...values } }),
  }
  const { seq } = await bus.sessions.append(
    session,
    { kind: 'control', fact },
    { envelope, messageId: `answer:${id}:${envelope.requestId}`, patienceMs: PATIENCE_MS },
  )
  // Another answer may have been stored in between.
  const stored = (await readOn(state.seq, seq))?.end
  if (stored?.state !== 'answered' || stored.seq !== seq) throw closed(stored)
  if (asked.type === 'approval-required') {
    const { principal, roles = [], entrance } = envelope
    const caller = { id: principal, roles, entrance: entrance as Entrance }
    const { call, server, tool, arguments: args } = asked
    const about = { session, call, server, tool, arguments: args }
    audit.approvalAnswered(caller, about, action === 'accept' ? 'allowed' : 'refused', envelope)
  }
}

/** The error for a question that is not open. A retry would not help. */
function closed(end: QuestionEnd | undefined): BusError {
  const reason = {
    answered: 'it was answered already',
    expired: 'it was not answered in time',
    void: 'its tool call is over',
  }
  const message = `answer: the question is not open any more: ${reason[end?.state ?? 'void']}`
  return new BusError('not-found', message, { field: 'id' })
}
