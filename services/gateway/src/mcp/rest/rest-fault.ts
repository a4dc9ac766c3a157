import { BusError, ErrorCode } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ItemAddress } from '../core/server-listing.ts'
import type { JsonRpcError } from '../core/json-rpc.ts'
import { isObject } from 'mcp-host/json'
import { JsonRpcCode } from '../core/json-rpc.ts'

const RestFailure = z.object({
  code: z
    .enum([...ErrorCode.options, 'upstream'])
    .describe('The kind of failure, for programs. `upstream`: the MCP server failed.'),
  message: z.string().describe('What is wrong and what to do, in words.'),
  field: z.string().optional().describe('What of the request is at fault, when that can be told.'),
  server: z.string().optional().describe('The MCP server, once one was asked.'),
  reason: z
    .enum(['unknown-outcome', 'approval-required'])
    .optional()
    .describe(
      '`unknown-outcome`: whether the request took effect is not known, so look before you send it again. `approval-required`: the tool runs only when a user allows it, who cannot be asked here.',
    ),
  retryAfterMs: z
    .number()
    .optional()
    .describe('Too much went wrong at the server, or waits for it: it is not asked for so long.'),
  upstream: z
    .looseObject({
      code: z.number().describe("JSON-RPC's, or the server's own."),
      message: z.string().describe('In its words.'),
    })
    .optional()
    .describe('The error as the MCP server said it.'),
})
type RestFailure = z.infer<typeof RestFailure>

export const RestErrorReply = z
  .object({ error: RestFailure.describe('What went wrong.') })
  .meta({ id: 'McpError', description: 'Why a request to MCP servers was not done.' })

type Status = 400 | 403 | 404 | 413 | 502 | 503 | 504

const CODES: Readonly<Record<Status, RestFailure['code']>> = {
  400: 'invalid',
  403: 'denied',
  404: 'not-found',
  413: 'invalid',
  502: 'upstream',
  503: 'unavailable',
  504: 'deadline',
}

/** Default without a hint of the server. */
const RETRY_AFTER_MS = 1_000

/** Why a request to MCP servers was not done, with the status of its answer. */
export class RestFault extends Error {
  override readonly name = 'RestFault'
  readonly status: Status
  readonly more: Omit<RestFailure, 'code' | 'message'>

  constructor(status: Status, message: string, more: RestFault['more'] = {}) {
    super(message)
    this.status = status
    this.more = more
  }

  reply(reply: FastifyReply): FastifyReply {
    const { status, message, more } = this
    if (status === 503) {
      const seconds = Math.ceil((more.retryAfterMs ?? RETRY_AFTER_MS) / 1_000)
      reply.header('retry-after', Math.max(1, seconds))
    }
    return reply.code(status).send({ error: { code: CODES[status], message, ...more } })
  }
}

/** An error of JSON-RPC. */
export interface JsonRpcErrorBody {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The server, method and item of a request. */
export interface Asked {
  readonly method: string
  readonly server: string
}

const UNAVAILABLE = new Set<unknown>(['unavailable', 'server-unavailable', 'server-startup'])

/** A server's error, or that of the supervisor, which has a `data.reason`. */
export function failed({ method, server }: Asked, failure: JsonRpcErrorBody): RestFault {
  const { code, message } = failure
  const data = isObject(failure.data) ? failure.data : {}
  const { reason, retryAfterMs } = data['server'] === server ? data : {}
  if (reason === 'unknown-outcome') return new RestFault(502, message, { server, reason })
  if (UNAVAILABLE.has(reason)) {
    const known = typeof retryAfterMs === 'number' ? { retryAfterMs: Math.ceil(retryAfterMs) } : {}
    return new RestFault(503, message, { server, ...known })
  }
  if (reason === 'timeout') return new RestFault(504, message, { server })
  // An error with a reason is the host's own.
  const upstream = reason === undefined ? { upstream: { ...failure } } : {}
  const isRead = method === 'resources/read'
  // There is nothing else in it that could be wrong; many servers say it by this code.
  if (isRead && (code === JsonRpcCode.resourceNotFound || code === JsonRpcCode.invalidParams)) {
    return new RestFault(404, `uri: ${message}`, { field: 'uri', server, ...upstream })
  }
  if (code === JsonRpcCode.invalidParams) {
    return new RestFault(400, `arguments: ${message}`, { field: 'arguments', server, ...upstream })
  }
  return new RestFault(502, `the server "${server}" failed: ${message}`, { server, ...upstream })
}

/** The error for a tool that requires approval: a REST caller cannot be asked. */
export function needsApproval({ server, name }: ItemAddress): RestFault {
  const message = `name: the tool "${name}" of the server "${server}" runs only when a user allows it (TOOL_APPROVAL), and nobody can be asked here; call it in a chat, or at /mcp by a client with elicitation`
  return new RestFault(403, message, { field: 'name', server, reason: 'approval-required' })
}

/** Arguments that a tool's schema does not have, in the words that a model would read. */
export function refused(server: string, result: { content: { text: string }[] }): RestFault {
  const words = result.content.map(({ text }) => text).join()
  return new RestFault(400, `arguments: ${words}`, { field: 'arguments', server })
}

/** The fault of a request that got no answer. */
export function unanswered(asked: Asked, fault: JsonRpcError): RestFault | BusError {
  const { code, message } = fault
  // None of several servers has it.
  if (code === JsonRpcCode.resourceNotFound)
    return new RestFault(404, `uri: ${message}`, { field: 'uri' })
  if (code === JsonRpcCode.internal) return new BusError('internal', message, { cause: fault })
  return failed(asked, fault)
}
