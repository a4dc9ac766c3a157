import type { FollowItem } from '@mcp-host/bus'
import { wasLost } from '@mcp-host/bus'
import type { Cursor, Envelope, SessionId, UserMessage } from '@mcp-host/contracts'
import {
  AnswerUp,
  BusError,
  CancelUp,
  cursorAfter,
  formatCursor,
  MessageUp,
  newEnvelope,
  RegenerateUp,
} from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { SseEvent } from '../projection/sse-event.ts'
import { turnOf } from '../projection/sse-turn.ts'
import { parseFrameId, sseFrames } from '../projection/sse.ts'
import { deletedSession } from '../session/deleted-session.ts'
import { findAttachments } from '../session/find-attachments.ts'
import { findStored, getMessage } from '../session/find-message.ts'
import { followSession, newestTurn } from '../session/follow-session.ts'
import { QueueNotifier } from '../session/queue-notifier.ts'
import type { IsSame } from '../session/same-message.ts'
import { checkSame, sameMessage, sameRegeneration } from '../session/same-message.ts'
import { messageToEnd, readQueue } from '../session/read-queue.ts'
import { storeAnswer } from '../session/store-answer.ts'
import { storeCancel } from '../session/store-cancel.ts'
import { storeMessage } from '../session/store-message.ts'
import type { Api, ApiDeps } from '../edge/api.ts'
import { checkNotDeleted, faults, jsonAnswer, SessionParams } from '../edge/api.ts'
import type { Follow } from '../edge/event-stream.ts'
import { sendEvents } from '../edge/event-stream.ts'

const { text, id, replaces, model, attachments } = MessageUp.shape.payload.shape

const EventId = z
  .string()
  .transform((given, context) => {
    const place = parseFrameId(given)
    if (place !== undefined) return place
    context.addIssue({ code: 'custom', message: 'must be the id of an event' })
    return z.NEVER
  })
  .optional()

const stream = {
  200: {
    description: 'Each event has an `id`, its place in the session, and as `data` this.',
    content: { 'text/event-stream': { schema: SseEvent } },
  },
}

const turnDescription =
  'The stream begins once the message is stored, and ends with the `done` of its turn. Leaving it cancels nothing: go on with `GET /api/chat/session/{id}/events`. The same `id` again gives the same turn, from its beginning.'

/** Messages, their answers as they are written, and what else a user says to a turn. */
export function addChatRoutes(api: Api, deps: ApiDeps): void {
  const { bus, logger } = deps
  const tags = ['chat']

  /** Stores a message, unless it is there already, and answers with its turn. */
  async function serveTurn(
    reply: FastifyReply,
    session: SessionId,
    ownId: string | undefined,
    {
      envelope,
      isSame,
      message,
    }: {
      envelope: Envelope
      isSame: IsSame
      message: () => Promise<Omit<UserMessage, 'id'>>
    },
  ): Promise<void> {
    const sentAt = performance.now()
    const messageId = ownId ?? crypto.randomUUID()
    const known = ownId === undefined ? undefined : await findStored(bus, session, ownId, envelope)
    if (known !== undefined) checkSame(known.fact, isSame, 'id')
    const { queue, before } = await readQueue(bus, session)
    let seq = known?.seq
    if (seq === undefined) {
      queue.checkRoom()
      const stored = { id: messageId, ...(await message()) }
      const options = { envelope, about: { component: 'http' }, isSame, field: 'id' }
      // Later failures are not reported: the message is accepted.
      ;({ seq } = await storeMessage(deps, session, stored, options))
    }
    await follow(reply, session, cursorAfter(seq - 1), {
      envelope,
      queueAfter: before,
      messageId,
      onText: () => {
        if (known === undefined) deps.events.firstText((performance.now() - sentAt) / 1_000)
      },
    })
  }

  /** Answers with a session's stream; with a message only with what is about it. */
  async function follow(
    reply: FastifyReply,
    session: SessionId,
    start: Cursor,
    {
      envelope,
      queueAfter,
      messageId,
      skip = 0,
      onText,
      place,
    }: {
      envelope: Envelope
      /** The log after this sequence tells which messages wait. */
      queueAfter: number
      messageId?: string
      /** So many frames of the first event were sent before. */
      skip?: number
      onText?: () => void
      /** Told before anything else as where the stream begins. */
      place?: string
    },
  ): Promise<void> {
    const frames: Follow = async function* (signal, aside) {
      using queue = new QueueNotifier((item) => {
        // Reports that other messages are first. The message may be over by then.
        const { waiting, current } = queue.view
        const isTold =
          messageId === undefined || (waiting.includes(messageId) && current !== messageId)
        if (isTold) for (const frame of sseFrames(item)) aside(frame)
      })
      const watch = { after: queueAfter, item: (item: FollowItem) => queue.item(item) }
      const all = followSession(bus, session, start, {
        envelope,
        signal,
        watch,
        withAnswers: true,
      })
      let left = skip
      let hasText = false
      for await (const event of messageId === undefined ? all : turnOf(all, messageId)) {
        if (event.type === 'text' && !hasText) onText?.()
        hasText ||= event.type === 'text'
        yield* sseFrames(event).slice(left)
        left = 0
      }
    }
    await sendEvents(deps, reply, frames, place)
  }

  api.post(
    '/session/:id/message',
    {
      schema: {
        tags,
        operationId: 'sendMessage',
        summary: 'Say something and get the answer as it is written',
        description: turnDescription,
        params: SessionParams,
        body: z.object({
          message: text.meta({ minLength: 1 }),
          id: id.describe('Your own id of the message; a new one if you give none.'),
          replaces: replaces.describe(
            'Id of an earlier message to be said differently: another branch begins in its place.',
          ),
          attachments: attachments.describe(
            'Keys of files that were stored before with `POST /api/chat/session/{id}/file`.',
          ),
          model: model.describe(
            'Who is to answer, as `provider/model` or `provider`; by default the one of the session, or of the host.',
          ),
        }),
        response: { ...stream, ...faults(400, 404, 409, 413, 415, 429, 503, 504) },
      },
    },
    async ({ params, body }, reply) => {
      const envelope = newEnvelope('local')
      await checkNotDeleted(bus, params.id)
      await serveTurn(reply, params.id, body.id, {
        envelope,
        isSame: sameMessage({ ...body, text: body.message }),
        async message() {
          const keys = body.attachments ?? []
          const message = {
            text: body.message,
            ...(body.model === undefined ? {} : { model: body.model }),
            ...(await findAttachments(bus, params.id, keys, 'attachments')),
          }
          if (body.replaces === undefined) return message
          await getMessage(bus, params.id, body.replaces, { envelope, field: 'replaces' })
          return { ...message, replaces: body.replaces }
        },
      })
    },
  )

  api.post(
    '/session/:id/regenerate',
    {
      schema: {
        tags,
        operationId: 'regenerate',
        summary: 'Get another answer to a message',
        description: turnDescription,
        params: SessionParams,
        body: RegenerateUp.shape.payload,
        response: { ...stream, ...faults(400, 404, 409, 413, 415, 429, 503, 504) },
      },
    },
    async ({ params, body }, reply) => {
      const envelope = newEnvelope('local')
      await checkNotDeleted(bus, params.id)
      await serveTurn(reply, params.id, body.id, {
        envelope,
        isSame: sameRegeneration(body),
        async message() {
          const { messageId } = body
          const options = { envelope, field: 'messageId' }
          const { content = '', metadata } = await getMessage(bus, params.id, messageId, options)
          const { attachments: files } = metadata
          return {
            text: content,
            replaces: messageId,
            ...(files === undefined ? {} : { attachments: files }),
            ...(body.model === undefined ? {} : { model: body.model }),
          }
        },
      })
    },
  )

  api.get(
    '/session/:id/events',
    {
      // Looking at it would begin it.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'followSession',
        summary: 'Follow a session',
        description:
          'Goes on until you leave; made for `EventSource`. Without an id it begins with the running turn, or with what is new.',
        params: SessionParams,
        querystring: z.object({ after: EventId.describe('Id of the last event you have.') }),
        headers: z.looseObject({
          'last-event-id': EventId.describe('As `after`, which it wins over; browsers send it.'),
        }),
        response: { ...stream, ...faults(400, 404) },
      },
    },
    async ({ params, query, headers }, reply) => {
      const envelope = newEnvelope('local')
      const place = headers['last-event-id'] ?? query.after
      using held = new DisposableStack()
      const open = async () => {
        // For a session that is about to be erased the stream itself ends with that.
        const known = await bus.directory.get(params.id)
        if (known?.record.state === 'deleted') throw deletedSession(known.record, 'id')
        const end = held.use(await bus.sessions.listen(params.id))
        const isLost = place !== undefined && wasLost(end.lost ?? [], place.cursor.seq)
        const isBeyond = place !== undefined && (isLost || place.cursor.seq > end.seq)
        if (!isBeyond) return newestTurn(bus, params.id, end)
        const field = headers['last-event-id'] === undefined ? 'after' : 'Last-Event-ID'
        const cause = isLost ? 'was lost when data was damaged' : 'is not an event of this session'
        const message = `${field} ${cause}; come back without it`
        throw new BusError('invalid', message, { field })
      }
      const opened = await open().catch((error: unknown) => BusError.from(error))
      if (opened instanceof BusError) {
        if (!opened.retryable) throw opened
        // Converts errors before the request is known to a reply.
        return sendEvents(deps, reply, () => failing(opened))
      }
      const about = { envelope, queueAfter: opened.before }
      if (place !== undefined) {
        const { cursor, skip } = place
        await follow(reply, params.id, cursor, { ...about, skip })
        return
      }
      const { cursor } = opened
      await follow(reply, params.id, cursor, { ...about, place: formatCursor(cursor) })
    },
  )

  api.post(
    '/session/:id/abort',
    {
      schema: {
        tags,
        operationId: 'abortTurn',
        summary: 'End a turn, or withdraw a message whose turn has not begun',
        params: SessionParams,
        body: CancelUp.shape.payload,
        response: {
          202: jsonAnswer('It will end.', z.object({ messageId: z.string() })),
          ...faults(400, 404, 409, 413, 415, 503, 504),
        },
      },
    },
    async ({ params, body }, reply) => {
      const envelope = newEnvelope('local')
      await checkNotDeleted(bus, params.id)
      const messageId = await messageToEnd(bus, params.id, body.messageId, envelope)
      const { duplicate } = await storeCancel(bus, params.id, messageId, envelope)
      if (!duplicate) deps.events.cancelAccepted()
      const { id: sessionId } = params
      const fields = { ...requestFields(envelope), component: 'http', sessionId, messageId }
      logger.info({ ...fields, action: 'cancel' }, 'cancel accepted')
      return reply.code(202).send({ messageId })
    },
  )

  api.post(
    '/session/:id/answer',
    {
      schema: {
        tags,
        operationId: 'answerQuestion',
        summary: 'Answer a question of a tool, or allow a tool to be called',
        description:
          'The question came as a `status` event with `input`. The first answer counts. A form is checked by its `requestedSchema`; one that does not fit leaves the question open.',
        params: SessionParams,
        body: AnswerUp.shape.payload,
        response: {
          202: jsonAnswer('It is the first one.', z.object({ id: z.string() })),
          ...faults(400, 404, 413, 415, 503),
        },
      },
    },
    async ({ params, body }, reply) => {
      const envelope = newEnvelope('local')
      await checkNotDeleted(bus, params.id)
      await storeAnswer(bus, params.id, body, envelope)
      const { id: sessionId } = params
      const fields = { ...requestFields(envelope), component: 'http', sessionId }
      const { id: question, action: answer } = body
      logger.info({ ...fields, action: 'answer', question, answer }, 'answer accepted')
      return reply.code(202).send({ id: question })
    },
  )
}

function failing(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}
