import { BusError } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'
import { SANDBOX_PAGE } from './app-sandbox-page.ts'

/** Domains of each kind that an app may be allowed to reach. */
const MAX_DOMAINS = 20

/** `https://` and a domain with a dot, which may begin with `*.`; so no address of a machine or network, no bare `*`. */
const HTTPS = /^https:\/\/(?<domain>(?:\*\.)?(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63})(?::\d{1,5})?$/
const SOCKET = new RegExp(HTTPS.source.replace('https', 'wss'))

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=(), clipboard-write=(), usb=(), serial=(), hid=(), bluetooth=(), payment=(), fullscreen=()',
  'cache-control': 'no-cache',
}

interface Query {
  readonly connect?: unknown
  readonly resource?: unknown
}

/**
 * The page around MCP apps in the web UI. Its policy makes it a document without an origin, even when it is opened
 * alone: nothing in it reaches the cookies, the storage or the pages of this host. `connect` and `resource` in the
 * query name the domains that the user has allowed the app to reach.
 */
export function addAppSandbox(app: FastifyInstance): void {
  app.get<{ Querystring: Query }>('/app-sandbox', ({ query, hostname }, reply) =>
    reply
      .headers({
        ...HEADERS,
        'content-security-policy': sandboxPolicy(query, hostname.toLowerCase()),
      })
      .type('text/html; charset=utf-8')
      .send(SANDBOX_PAGE),
  )
}

/** The policy of the page, which is inherited by the app in it. Throws `BusError` for a domain that no app may reach. */
export function sandboxPolicy(query: Query, ownDomain: string): string {
  const resources = domainsOf('resource', query, ownDomain, [HTTPS])
  const targets = domainsOf('connect', query, ownDomain, [HTTPS, SOCKET])
  const fixed = ['data:', 'blob:', ...resources].join(' ')
  // Apps are single files with scripts of their own.
  const inline = ["'unsafe-inline'", ...resources].join(' ')
  return [
    'sandbox allow-scripts allow-forms',
    "default-src 'none'",
    `script-src ${inline}`,
    `style-src ${inline}`,
    `img-src ${fixed}`,
    `font-src ${fixed}`,
    `media-src ${fixed}`,
    `connect-src ${targets.length === 0 ? "'none'" : targets.join(' ')}`,
    // The app itself has no address; this also keeps it from leaving for one.
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ')
}

function domainsOf(
  field: keyof Query,
  query: Query,
  ownDomain: string,
  patterns: readonly RegExp[],
): string[] {
  const given = [query[field] ?? []].flat()
  if (given.length > MAX_DOMAINS) {
    throw new BusError('invalid', `${field}: names more than ${MAX_DOMAINS} domains`, { field })
  }
  return given.map((each) => {
    const source = typeof each === 'string' ? each : ''
    const domain = patterns.map((pattern) => pattern.exec(source)?.groups?.['domain']).find(Boolean)
    if (domain !== undefined && !covers(domain, ownDomain)) return source
    const message = `${field}: must be https:// and a domain of another host, as https://api.example.com`
    throw new BusError('invalid', message, { field })
  })
}

/** Whether a domain, with or without `*.`, is the other one. */
function covers(domain: string, other: string): boolean {
  return domain.startsWith('*.') ? other.endsWith(domain.slice(1)) : domain === other
}
