import type { FastifyInstance, RawServerDefault, FastifyBaseLogger } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import { ErrorReply } from './error-reply.ts'

/** A part of the app whose routes are typed by their schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

interface Answer {
  readonly description: string
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>
}

export function jsonAnswer(description: string, schema: z.ZodType): Answer {
  return { description, content: { 'application/json': { schema } } }
}

const FAULTS = {
  400: 'Something in the request is not valid; `field` names it.',
  401: 'No credential came with the request, or it is not valid; `WWW-Authenticate` says what to do.',
  403: 'A page of this origin, or a host of this name, is not served; see `ALLOWED_ORIGINS`. Or the credential does not allow this.',
  404: 'There is no such thing.',
  408: 'The request took longer than half an hour.',
  409: 'The request conflicts with the current state, such as a turn that is over or another message with this `id`.',
  413: 'The body is larger than 1 MB, a file larger than 20 MB.',
  415: 'The body is not application/json; of a file: its type is none.',
  429: 'Too many messages of the session wait; send more when some are answered.',
  500: 'A fault of the host; its log has more.',
  503: 'Not possible right now. The request may have been carried out: try again after `Retry-After` seconds, a message with the same `id`.',
  504: 'No answer in time. The request may have been carried out: try again, a message with the same `id`.',
} as const

type Fault = keyof typeof FAULTS

/** The descriptions of the errors of a route, and of those that every route may give. */
export function faults(...statuses: Exclude<Fault, 401 | 403 | 500>[]): Record<number, Answer> {
  // Routes with a body may answer 408.
  const slow = statuses.includes(413) ? ([408] as const) : []
  const all: readonly Fault[] = [...statuses, ...slow, 401, 403, 500]
  return Object.fromEntries(all.map((status) => [status, jsonAnswer(FAULTS[status], ErrorReply)]))
}
