import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type {
  Envelope,
  InputAnswered,
  Question,
  QuestionEnd,
  SessionId,
  Up,
} from '@mcp-host/contracts'
import { applyEntry, BusError, emptySession, newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { joinCursor } from '../../session/follow-session.ts'
import { checkAnswer } from '../check-answer.ts'
import type { Connection } from '../connection.ts'
import type { SocketDeps } from '../socket.ts'

/** How long a user waits for an answer to be stored, and then for it to be readable. */
const PATIENCE_MS = 10_000
const LAG_MS = 50

type AnswerFrame = Extract<Up, { type: 'answer' }>

/** Puts a user's answer to a question into the session's log. Only the first one is accepted. */
export async function takeAnswer(
  deps: SocketDeps,
  connection: Connection,
  frame: AnswerFrame,
): Promise<void> {
  await connection.inOrder(() => take(deps, connection, frame))
}

async function take(
  { bus, logger }: SocketDeps,
  connection: Connection,
  { payload }: AnswerFrame,
): Promise<void> {
  const { sessionId, clientId } = connection
  const { id, action } = payload
  const envelope = newEnvelope('local')
  const fields = {
    ...requestFields(envelope),
    component: 'socket',
    action: 'answer',
    sessionId,
    clientId,
    question: id,
    answer: action,
  }
  try {
    await store(bus, sessionId, payload, envelope)
    logger.info(fields, 'answer accepted')
    void connection.send({ type: 'accepted', payload: { messageId: id, duplicate: false } })
  } catch (err) {
    const error = BusError.from(err)
    logger.warn({ ...fields, err: error }, 'answer not accepted')
    void connection.send({
      type: 'error',
      payload: { ...error.toInfo(), retryable: error.retryable, messageId: id },
    })
  }
}

async function store(
  bus: Bus,
  session: SessionId,
  { id, action, content }: AnswerFrame['payload'],
  envelope: Envelope,
): Promise<void> {
  const state = emptySession()
  const readOn = async (after: number): Promise<Question | undefined> => {
    for (const entry of await bus.sessions.read(session, after)) applyEntry(state, entry)
    return state.questions.get(id)
  }
  // Questions belong to the running turn.
  const question = await readOn((await joinCursor(bus, session)).seq)
  if (question === undefined) {
    const message = `answer: no question "${id}" is open in this session`
    throw new BusError('not-found', message, { field: 'payload.id' })
  }
  if (question.end !== undefined) throw closed(question.end)
  const values = action === 'accept' && question.asked.mode === 'form' ? (content ?? {}) : undefined
  const faults =
    values === undefined ? [] : checkAnswer(question.asked.requestedSchema ?? {}, values)
  if (faults[0] !== undefined) {
    const list = faults.map(({ field, message }) => `${field} ${message}`).join('; ')
    const field = `payload.content.${faults[0].field}`
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
  // Another one may have been stored in between. Replicas of the broker may lag behind what they stored.
  const giveUpAt = Date.now() + PATIENCE_MS
  while (state.seq < seq) {
    await readOn(state.seq)
    if (state.seq >= seq) break
    if (Date.now() >= giveUpAt) {
      const message =
        'answer: it is stored, but whether it is the first is not known yet; try again'
      throw new BusError('unavailable', message)
    }
    await delay(LAG_MS)
  }
  const end = state.questions.get(id)?.end
  if (end?.state !== 'answered' || end.seq !== seq) throw closed(end)
}

/** Trying again would not help. */
function closed(end: QuestionEnd | undefined): BusError {
  const reason = {
    answered: 'it was answered already',
    expired: 'it was not answered in time',
    void: 'its tool call is over',
  }
  const message = `answer: the question is not open any more: ${reason[end?.state ?? 'void']}`
  return new BusError('not-found', message, { field: 'payload.id' })
}
