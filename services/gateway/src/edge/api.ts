import type { Bus } from '@mcp-host/bus'
import { SessionId } from '@mcp-host/contracts'
import type { FastifyInstance, RawServerDefault, FastifyBaseLogger } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { deletedSession, findDeleted } from '../session/deleted-session.ts'
import type { GatewayEvents } from '../events.ts'
import { ErrorReply } from './error-reply.ts'
import type { EventStreamDeps } from './event-stream.ts'

/** A part of the app whose routes are typed by their schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

export interface ApiDeps extends EventStreamDeps {
  readonly bus: Bus
  readonly events: GatewayEvents
}

/** The time limit for an orchestrator's answer. */
export const CALL_TIMEOUT_MS = 10_000

export const SessionParams = z.object({ id: SessionId.describe('Of the session.') })

interface Answer {
  readonly description: string
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>
}

export function jsonAnswer(description: string, schema: z.ZodType): Answer {
  return { description, content: { 'application/json': { schema } } }
}

const FAULTS = {
  400: 'Something in the request is not valid; `field` names it.',
  403: 'A page of this origin, or a host of this name, is not served; see `ALLOWED_ORIGINS`.',
  404: 'There is no such thing.',
  408: 'The body came too slowly: less than 1 KB a second, or half an hour for all of it.',
  409: 'It does not fit to what is there: it is over, or another message has this `id`.',
  413: 'The body is larger than 1 MB, a file larger than 20 MB.',
  415: 'The body is not application/json; of a file: its type is none.',
  429: 'Too many messages of the session wait; send more when some are answered.',
  500: 'A fault of the host; its log has more.',
  503: 'Not possible right now. It may have been done all the same: try again after `Retry-After` seconds, a message with the same `id`.',
  504: 'No answer in time: whether it was done is not known. Try again, a message with the same `id`.',
} as const

type Fault = keyof typeof FAULTS

/** The answers of a route that refuses a request, with those that every route may give. */
export function faults(...statuses: Exclude<Fault, 403 | 500>[]): Record<number, Answer> {
  // Routes with a body may answer 408.
  const slow = statuses.includes(413) ? ([408] as const) : []
  const all: readonly Fault[] = [...statuses, ...slow, 403, 500]
  return Object.fromEntries(all.map((status) => [status, jsonAnswer(FAULTS[status], ErrorReply)]))
}

/** Refuses what is said to a session that was deleted. Throws `not-found`. */
export async function checkNotDeleted(bus: Bus, session: SessionId): Promise<void> {
  const deleted = await findDeleted(bus, session)
  if (deleted !== undefined) throw deletedSession(deleted, 'id')
}
