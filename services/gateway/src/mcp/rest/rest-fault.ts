import { BusError, ErrorCode } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode } from '@mcp-host/mcp'
import type { ItemAddress, JsonRpcError } from '@mcp-host/mcp-endpoint'

const RestFailure = z.object({
  code: z
    .enum([...ErrorCode.options, 'upstream'])
    .describe('The kind of failure, for programs. `upstream`: the MCP server failed.'),
  message: z.string().describe('The cause and the remedy, in words.'),
  field: z
    .string()
    .optional()
    .describe('The field of the request that is at fault, where it is known.'),
  server: z.string().optional().describe('The MCP server, once one was asked.'),
  reason: z
    .enum(['unknown-outcome', 'approval-required'])
    .optional()
    .describe(
      '`unknown-outcome`: whether the request took effect is not known, so look before you send it again. `approval-required`: the tool runs only when a user allows it; the call waits as `approval`.',
    ),
  approval: z
    .object({
      id: z.string().describe('Sent as `approval` with the same call once it is allowed.'),
      path: z.string().describe('Route at which a user allows or refuses it.'),
      expiresAt: z.number().describe('Epoch milliseconds.'),
    })
    .optional()
    .describe('The call in the queue of those that a user has to allow.'),
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
  .object({ error: RestFailure.describe('The failure.') })
  .meta({ id: 'McpError', description: 'Why a request to MCP servers was not done.' })

type Status = 400 | 403 | 404 | 409 | 413 | 502 | 503 | 504

const CODES: Readonly<Record<Status, RestFailure['code']>> = {
  400: 'invalid',
  403: 'denied',
  404: 'not-found',
  409: 'conflict',
  413: 'invalid',
  502: 'upstream',
  503: 'unavailable',
  504: 'deadline',
}

/** The `Retry-After` when the server gives no hint. */
const RETRY_AFTER_MS = 1_000

/** The failure of a request to MCP servers, with the status of its answer. */
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

/** Converts an error of a server, or of the supervisor, whose errors have a `data.reason`. */
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
  // An error with a reason comes from the host itself.
  const upstream = reason === undefined ? { upstream: { ...failure } } : {}
  const isRead = method === 'resources/read'
  // The URI is the only argument of a read, and many servers use this code for an unknown one.
  if (isRead && (code === JsonRpcCode.resourceNotFound || code === JsonRpcCode.invalidParams)) {
    return new RestFault(404, `uri: ${message}`, { field: 'uri', server, ...upstream })
  }
  if (code === JsonRpcCode.invalidParams) {
    return new RestFault(400, `arguments: ${message}`, { field: 'arguments', server, ...upstream })
  }
  return new RestFault(502, `the server "${server}" failed: ${message}`, { server, ...upstream })
}

/** The error for a call that needs an approval. */
export function needsApproval(
  { server, name }: ItemAddress,
  { id, expiresAt }: { readonly id: string; readonly expiresAt: number },
): RestFault {
  const path = `/api/approvals/${id}`
  const message = `name: the tool "${name}" of the server "${server}" runs only when a user allows it: decide at ${path}, then send the call again with "approval": "${id}"`
  const approval = { id, path, expiresAt }
  return new RestFault(409, message, {
    field: 'name',
    server,
    reason: 'approval-required',
    approval,
  })
}

/** Converts the error of an approval that does not fit a call. */
export function notApproved(error: unknown): unknown {
  if (!(error instanceof BusError)) return error
  const { code, message } = error
  if (code === 'not-found') return new RestFault(404, `approval: ${message}`, { field: 'approval' })
  if (code === 'conflict') return new RestFault(409, message, { field: 'approval' })
  return code === 'denied' ? new RestFault(403, message, { field: 'approval' }) : error
}

/** The error for arguments that break a tool's schema, with the text for models. */
export function refused(server: string, result: { content: { text: string }[] }): RestFault {
  const words = result.content.map(({ text }) => text).join()
  return new RestFault(400, `arguments: ${words}`, { field: 'arguments', server })
}

/** The error for a request without an answer. */
export function unanswered(asked: Asked, fault: JsonRpcError): RestFault | BusError {
  const { code, message } = fault
  // None of the servers has the item.
  if (code === JsonRpcCode.resourceNotFound)
    return new RestFault(404, `uri: ${message}`, { field: 'uri' })
  if (code === JsonRpcCode.internal) return new BusError('internal', message, { cause: fault })
  return failed(asked, fault)
}
