import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BusError } from '@mcp-host/contracts'
import { isLoopback, readHost } from '@mcp-host/service'

/** Throws `denied`. */
export type OriginGuard = (headers: IncomingHttpHeaders) => void

/**
 * Refuses requests that a foreign web page could have caused: requests with a foreign origin, and those under a foreign
 * host name that resolves to this machine (DNS rebinding).
 */
export function originGuard(allowed: readonly string[]): OriginGuard {
  const origins = allowed.map((each) => new URL(each))
  const isServed = (header: string): boolean =>
    isLoopback(readHost(header)?.hostname ?? '') ||
    origins.some(({ protocol, host }) => readHost(header, protocol)?.host === host)
  // Most requests have the same host name as the previous one.
  let served: string | undefined
  return ({ host = '', origin }) => {
    if (host !== served) {
      if (!isServed(host)) {
        throw new BusError('denied', `Host ${host} is not served here`, { field: 'Host' })
      }
      served = host
    }
    if (origin === undefined || allowed.includes(origin)) return
    if (URL.canParse(origin) && isLoopback(new URL(origin).hostname)) return
    throw new BusError('denied', `pages of ${origin} may not connect; see ALLOWED_ORIGINS`, {
      field: 'Origin',
    })
  }
}

/** Throws `invalid` for two `Host` headers: a proxy may have checked the other one. Node keeps the first. */
export function refuseSecondHost({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  // Names and values take turns.
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name))
  if (hosts.length > 1) throw new BusError('invalid', 'Host: is sent twice', { field: 'Host' })
}

type AnswerHeaders = Readonly<Record<string, string>>

/** Headers that let a page of an allowed origin read the answer. */
export function originHeaders({ origin }: IncomingHttpHeaders): AnswerHeaders | undefined {
  if (origin === undefined) return undefined
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Mcp-Session-Id, Retry-After, WWW-Authenticate',
    vary: 'Origin',
  }
}

/** The headers of a 204 answer to a CORS preflight request; `undefined` for other requests. */
export function preflightHeaders(
  method: string | undefined,
  headers: IncomingHttpHeaders,
): AnswerHeaders | undefined {
  const isAsked = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
  if (!isAsked || headers.origin === undefined) return undefined
  return {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']),
    'access-control-max-age': '600',
  }
}

const ALLOWED =
  'Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id'

/** The known request headers, and the requested ones that repeat tool arguments, whose names vary. */
function allowedHeaders(asked = ''): string {
  const parameters = asked.split(',').filter((each) => /^\s*mcp-param-[\w-]+\s*$/i.test(each))
  return [ALLOWED, ...parameters.map((each) => each.trim())].join(', ')
}
