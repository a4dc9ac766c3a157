import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import { ServerEntry, SessionId, ToolUse, updateSession } from '@mcp-host/contracts'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { newChatId } from '../../session/chat-id.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import type { ToolState } from '../../status-summary.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { Session } from './session-schema.ts'
import { NewSession } from './session-settings.ts'

const Tools = z
  .array(
    z.object({
      server: z.string().describe('Whose it is.'),
      tool: z.string().describe('Its name there.'),
      state: ServerEntry.shape.state.describe(
        'State of its server; only tools of `ready` servers run.',
      ),
      use: describeFields(ToolUse, {
        calls: 'How often it was called.',
        failures: 'How often it failed.',
        averageMs: 'How long its calls took on average, in milliseconds.',
        lastUsedAt: 'When it was called last, in epoch milliseconds.',
      })
        .optional()
        .describe('How it was used since its server started; absent when it was not.'),
    }),
  )
  .describe('The tools of the host that the policy allows, as they are now.')

export interface CreateSessionDeps {
  readonly bus: Bus
  /** The tools that a principal may call, with the current state of their servers. */
  readonly tools: (principal: Principal) => ToolState[]
  readonly signSession: SignSession
}

export function addCreateSession(api: Api, { bus, tools, signSession }: CreateSessionDeps): void {
  api.post(
    '/session',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'createSession',
        summary: 'Begin a session',
        description:
          'Without a title, a model or settings it is not known before its first message: until then it is not listed, has no history and cannot be changed or deleted (404).',
        body: NewSession.prefault({}),
        response: {
          201: jsonAnswer(
            'The new session. It belongs to the caller. Without logins its id is a secret: who knows it may read and write the session.',
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
    async ({ body, envelope, principal }, reply) => {
      const session = newChatId(signSession, principal)
      const isKnown = Object.values(body).some((value) => value !== undefined)
      const record = isKnown
        ? {
            session: await askOrchestrator(
              bus,
              updateSession,
              { session, ...body, create: true },
              envelope,
            ),
          }
        : {}
      return reply.code(201).send({ sessionId: session, ...record, tools: tools(principal) })
    },
  )
}
