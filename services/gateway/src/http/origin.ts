import type { IncomingHttpHeaders } from 'node:http'
import { BusError } from '@mcp-host/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback } from '../config.ts'

/**
 * Refuses requests that a foreign web page could have caused: of another origin, or under a host name
 * that was bent to this machine. Throws `denied`.
 */
export function checkOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): void {
  const { host = '', origin } = headers
  const name = host.replace(/:\d+$/, '')
  if (!isLoopback(name) && !allowed.some((each) => new URL(each).host === host)) {
    throw new BusError('denied', `Host ${host} is not served here`, { field: 'Host' })
  }
  if (origin === undefined || allowed.includes(origin)) return
  if (URL.canParse(origin) && isLoopback(new URL(origin).hostname)) return
  throw new BusError('denied', `pages of ${origin} may not connect; see ALLOWED_ORIGINS`, {
    field: 'Origin',
  })
}

/**
 * Lets a page of another origin, which `checkOrigin` has let pass, read the answer. Answers the question that
 * its browser asks before a request.
 */
export function allowOrigin(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  if (headers.origin === undefined) return undefined
  reply.headers({
    'access-control-allow-origin': headers.origin,
    'access-control-expose-headers': 'Mcp-Session-Id, Retry-After',
    vary: 'Origin',
  })
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined)
    return undefined
  return reply
    .code(204)
    .headers({
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']),
      'access-control-max-age': '600',
    })
    .send()
}

const ALLOWED =
  'Accept, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id'

/** Those that are known, and of those that are asked for what repeats arguments of tools, whose names nobody knows. */
function allowedHeaders(asked = ''): string {
  const parameters = asked.split(',').filter((each) => /^\s*mcp-param-[\w-]+\s*$/i.test(each))
  return [ALLOWED, ...parameters.map((each) => each.trim())].join(', ')
}
