import type { CallContract, SessionRecord } from '@mcp-host/contracts'
import {
  BusError,
  getSession,
  listSessions,
  MessageUp,
  ModelReference,
  newEnvelope,
  sessionHistory,
  SessionId,
  SessionSettings,
  SettingsChange,
  updateSession,
} from '@mcp-host/contracts'
import { z } from 'zod'
import { describeFields } from '../projection/describe-fields.ts'
import { eraseSession } from '../session/erase-session.ts'
import type { LiveConnections } from '../connection/live-connections.ts'
import type { SignSession } from '../mcp/core/signed-id.ts'
import { signedId } from '../mcp/core/signed-id.ts'
import { Connection, Message, Session, Tools } from './response-schemas.ts'
import type { Api, ApiDeps } from '../edge/api.ts'
import { CALL_TIMEOUT_MS, checkNotDeleted, faults, jsonAnswer, SessionParams } from '../edge/api.ts'

const MAX_TITLE_LENGTH = 200

const Title = MessageUp.shape.payload.shape.text
  .refine((title) => title.length <= MAX_TITLE_LENGTH, {
    error: `must not be longer than ${MAX_TITLE_LENGTH} characters`,
  })
  .meta({ minLength: 1, maxLength: MAX_TITLE_LENGTH })

const Model = ModelReference.describe(
  'Who answers its next messages that name nobody, as `provider/model` or `provider`; `GET /api/chat/models` lists them.',
)

const SETTINGS = {
  systemPrompt: 'What models are told before its conversation, in place of `SYSTEM_PROMPT`.',
  temperature: 'Of its answers, from 0 to 2.',
  maxToolCalls: 'How many tool calls each of its turns may make, in place of `MAX_TOOL_CALLS`.',
}
const SETTINGS_CHANGE = {
  systemPrompt: `${SETTINGS.systemPrompt} \`null\`: as the host is set.`,
  temperature: `${SETTINGS.temperature} \`null\`: as the provider is set.`,
  maxToolCalls: `${SETTINGS.maxToolCalls} \`null\`: as the host is set.`,
}

// Bodies are JSON already; the recursive schema of all JSON has no place in the API's description.
const Metadata = z
  .looseObject({})
  .transform((value) => value as NonNullable<SessionRecord['metadata']>)
  .describe("The caller's own, up to 16,384 characters of JSON; it means nothing to the host.")

const Page = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('`next` of the page before; without it the first page.'),
})

const next = z.string().optional().describe('`before` of the next page; absent on the last one.')

export interface SessionRouteDeps extends Pick<ApiDeps, 'bus'> {
  /** All tools of the host, as they are now. */
  readonly tools: () => z.infer<typeof Tools>
  readonly connections: Pick<LiveConnections, 'of'>
  readonly signSession: SignSession
}

/** Sessions and what was said in them. */
export function addSessionRoutes(
  api: Api,
  { bus, tools, connections, signSession }: SessionRouteDeps,
): void {
  const tags = ['sessions']

  /** Asks an orchestrator. */
  async function ask<Request, Reply>(
    contract: CallContract<string, Request, Reply>,
    request: Request,
  ): Promise<Reply> {
    const options = { envelope: newEnvelope('local'), timeoutMs: CALL_TIMEOUT_MS }
    try {
      return await bus.call(contract, {}, request, options)
    } catch (error) {
      const { code, message, field, reason } = BusError.from(error)
      // The field has another name here.
      if (field === 'session') throw new BusError(code, message, { field: 'id', reason })
      throw error
    }
  }

  api.post(
    '/session',
    {
      schema: {
        tags,
        operationId: 'createSession',
        summary: 'Begin a session',
        description:
          'Without a title, a model or settings it is not known before its first message: until then it is not listed, has no history and cannot be changed or deleted (404).',
        body: z
          .object({
            title: Title.optional(),
            model: Model.optional(),
            ...describeFields(SessionSettings, SETTINGS).shape,
            metadata: Metadata.optional(),
          })
          .prefault({}),
        response: {
          201: jsonAnswer(
            'The new session. Its id is a secret: who knows it may read and write the session.',
            z.object({
              sessionId: SessionId,
              session: Session.optional().describe('With a title, a model or settings.'),
              tools: Tools,
            }),
          ),
          ...faults(400, 413, 415, 503, 504),
        },
      },
    },
    async ({ body }, reply) => {
      const session = signedId(signSession) as SessionId
      const isKnown = Object.values(body).some((value) => value !== undefined)
      const record = isKnown
        ? { session: await ask(updateSession, { session, ...body, create: true }) }
        : {}
      return reply.code(201).send({ sessionId: session, ...record, tools: tools() })
    },
  )

  api.get(
    '/sessions',
    {
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List the sessions, the newest first',
        querystring: Page,
        response: {
          200: jsonAnswer('A page of them.', z.object({ sessions: z.array(Session), next })),
          ...faults(400, 503, 504),
        },
      },
    },
    async ({ query: { limit, before } }) =>
      ask(listSessions, { limit, ...(before === undefined ? {} : { before }) }),
  )

  api.get(
    '/session/:id',
    {
      schema: {
        tags,
        operationId: 'getSession',
        summary: 'What is known of a session',
        params: SessionParams,
        response: { 200: jsonAnswer('It.', Session), ...faults(400, 404, 503, 504) },
      },
    },
    async ({ params: { id } }) => ask(getSession, { session: id }),
  )

  api.patch(
    '/session/:id',
    {
      schema: {
        tags,
        operationId: 'updateSession',
        summary: 'Change the title, model, settings or metadata of a session',
        params: SessionParams,
        body: z
          .object({
            title: Title.optional(),
            model: Model.nullable()
              .optional()
              .describe(`${Model.description} \`null\`: the one that answers by default.`),
            ...describeFields(SettingsChange, SETTINGS_CHANGE).shape,
            metadata: Metadata.nullable().optional(),
          })
          .refine((body) => Object.values(body).some((value) => value !== undefined), {
            error: 'needs a title, a model, settings or metadata',
            path: ['title'],
          }),
        response: {
          200: jsonAnswer('The session.', Session),
          ...faults(400, 404, 413, 415, 503, 504),
        },
      },
    },
    async ({ params: { id }, body }) => ask(updateSession, { session: id, ...body }),
  )

  api.delete(
    '/session/:id',
    {
      schema: {
        tags,
        operationId: 'deleteSession',
        summary: 'Delete a session: end what runs in it and erase all of it',
        params: SessionParams,
        response: {
          204: z
            .undefined()
            .describe('It is gone, and erased at the latest when an orchestrator is there.'),
          ...faults(400, 404, 503, 504),
        },
      },
    },
    async ({ params: { id } }, reply) => {
      await eraseSession(bus, id, newEnvelope('local'), signSession)
      return reply.code(204).send()
    },
  )

  api.get(
    '/session/:id/connections',
    {
      schema: {
        tags,
        operationId: 'listConnections',
        summary: 'Sockets that are open on a session, at all gateways that answer',
        params: SessionParams,
        response: {
          200: jsonAnswer('They.', z.object({ connections: z.array(Connection) })),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { id } }) => {
      await checkNotDeleted(bus, id)
      return { connections: await connections.of(id) }
    },
  )

  api.get(
    '/session/:id/messages',
    {
      schema: {
        tags,
        operationId: 'listMessages',
        summary: 'What was said, on the newest branch',
        description:
          'In whole turns, the oldest first. `limit` counts turns. A turn that is not `done` is here so far as it is stored; the stream of events has all of it.',
        params: SessionParams,
        querystring: Page,
        response: {
          200: jsonAnswer('A page of it.', z.object({ messages: z.array(Message), next })),
          ...faults(400, 404, 503, 504),
        },
      },
    },
    async ({ params: { id }, query: { limit, before } }) =>
      ask(sessionHistory, { session: id, limit, ...(before === undefined ? {} : { before }) }),
  )
}
