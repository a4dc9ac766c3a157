import type { IncomingMessage } from 'node:http'
import { BusError } from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import type { Logger } from '@mcp-host/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BodyReader } from '../../edge/body-reader.ts'
import { errorAnswer } from '../../edge/error-reply.ts'
import { errorPage } from '../pages/error-page.ts'
import { PAGE_HEADERS, STYLE_PATH } from '../pages/page.ts'
import { STYLE } from '../pages/style.ts'

const MAX_FORM_BYTES = 16 * 1024
export const HTML = 'text/html; charset=utf-8'
const FORM = 'application/x-www-form-urlencoded'

export interface PagesDeps {
  readonly bodies: BodyReader
  readonly logger: Logger
  /** The addresses of this host. */
  readonly origins: readonly string[]
}

/** Makes the routes of a scope pages: they accept forms only from pages of this host, and send errors as pages. */
export function addPages(app: FastifyInstance, { bodies, logger, origins }: PagesDeps): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM, async (_: unknown, payload: IncomingMessage) => {
    using body = await bodies.read(payload, MAX_FORM_BYTES)
    return new URLSearchParams(new TextDecoder().decode(body.bytes))
  })
  const hosts = origins.map((each) => new URL(each).host)
  app.addHook('onRequest', async ({ method, url, headers: { origin, host } }, reply) => {
    reply.headers(PAGE_HEADERS)
    // Cookies of a login are valid for one host name.
    if (method === 'GET' && !hosts.includes(host ?? '')) {
      return reply.redirect(`${origins[0]}${url}`, 303)
    }
    // Otherwise a foreign page could log the browser in to another account.
    if (method !== 'GET' && origin !== undefined && !origins.includes(origin)) {
      throw new BusError('denied', `Forms of ${origin} are not taken here. Use ${origins[0]}.`)
    }
    return undefined
  })
  app.setErrorHandler(pageErrors(logger))
}

/** Adds the style of all pages. */
export function addStyle(app: FastifyInstance): void {
  app.get(STYLE_PATH, (_, reply) =>
    reply.type('text/css').header('cache-control', 'public, max-age=3600').send(STYLE),
  )
}

/** Sends errors as pages. */
export function pageErrors(logger: Logger) {
  return (error: unknown, { routeOptions, params }: FastifyRequest, reply: FastifyReply) => {
    const fault = BusError.from(error)
    if (fault.code === 'internal' && statusOf(error) === undefined) {
      const fields = { component: 'accounts', action: routeOptions.url, err: error }
      logger.error(fields, 'request failed')
    }
    const known = fault.code === 'internal' ? statusOf(error) : undefined
    const { status, headers } = errorAnswer(fault, known)
    const text =
      fault.code === 'internal' ? 'Something went wrong here; the log has more.' : fault.message
    return reply
      .code(status)
      .headers({ ...headers, ...PAGE_HEADERS })
      .type(HTML)
      .send(errorPage({ title: 'This did not work', text, ...againAt(params) }))
  }
}

/** Where a login at a server begins again. */
function againAt(params: unknown): { readonly again?: string } {
  const server = isObject(params) ? params['server'] : undefined
  return typeof server === 'string' ? { again: `/connect/${encodeURIComponent(server)}` } : {}
}

/** The status of a request that Fastify refused. */
function statusOf(error: unknown): number | undefined {
  const isCoded = error instanceof Error && 'statusCode' in error
  return isCoded && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** A field of a form; empty where it is missing. Throws `invalid` for a repeated one. */
export function field(body: unknown, name: string): string {
  return body instanceof URLSearchParams ? (single(name, body.getAll(name)) ?? '') : ''
}

/** A parameter of a query. Throws `invalid` for a repeated one, which Fastify gives as an array. */
export function queryField(query: unknown, name: string): string | undefined {
  const { [name]: value } = query as Readonly<Record<string, string | readonly string[]>>
  return single(name, [value ?? []].flat())
}

function single(name: string, values: readonly string[]): string | undefined {
  if (values.length <= 1) return values[0]
  const message = `${name}: is given more than once; send one value`
  throw new BusError('invalid', message, { field: name })
}
