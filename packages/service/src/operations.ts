import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import { isIPv6 } from 'node:net'
import { promisify } from 'node:util'
import type { Registry } from 'prom-client'
import { canSharePort } from './can-share-port.ts'
import { isLoopback, readHost } from './host-header.ts'
import { ConfigError } from './settings.ts'

/** The product's version, shown to clients and operators. `version.test.ts` compares it with `package.json`. */
export const VERSION = '0.1.0'

/** `Asker`: what the details depend on. */
export interface OperationsDeps<Asker = unknown> {
  readonly service: string
  readonly metrics: Registry
  /** Resolves when the process can work. Rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>
  /** Why durable writes fail; `undefined` when they do not. */
  readonly storageFault?: () => string | undefined
  /** What is wrong with stored data, although the process can work: each a sentence for its operator. */
  readonly storageWarnings?: () => Promise<readonly string[]>
  /** Whether the process was told to stop, so that a successor may start. */
  readonly isStopping?: () => boolean
  /** Further fields of `/health`; `status` may become `degraded`. */
  readonly details?: (asker: Asker) => Record<string, unknown>
}

export interface OperationsAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** `/health` (the process lives), `/ready` (it can work) and `/metrics` (Prometheus). */
export function operationsRoutes<Asker>(
  deps: OperationsDeps<Asker>,
): ReadonlyMap<string, (asker: Asker) => Promise<OperationsAnswer>> {
  const { metrics } = deps
  /** Absent while nothing is wrong. */
  const storage = async (): Promise<{ storage?: readonly string[] }> => {
    const warnings = (await deps.storageWarnings?.()) ?? []
    return warnings.length > 0 ? { storage: warnings } : {}
  }
  const health = async (asker: Asker): Promise<OperationsAnswer> => {
    const warnings = await storage()
    return json(200, {
      ok: true,
      status: warnings.storage === undefined ? 'healthy' : 'degraded',
      version: VERSION,
      service: deps.service,
      pid: process.pid,
      uptimeSeconds: Math.round(process.uptime()),
      ...(deps.isStopping?.() === true ? { stopping: true } : {}),
      ...warnings,
      ...deps.details?.(asker),
    })
  }
  const ready = async (): Promise<OperationsAnswer> => {
    try {
      await deps.ready()
      const fault = deps.storageFault?.()
      if (fault === undefined) return json(200, { status: 'ready', ...(await storage()) })
      return json(503, { status: 'not ready', reason: fault, part: 'storage' })
    } catch (error) {
      return json(503, { status: 'not ready', reason: messageOf(error) })
    }
  }
  return new Map([
    ['/health', health],
    ['/ready', ready],
    [
      '/metrics',
      async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
    ],
  ])
}

function json(status: number, content: object): OperationsAnswer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(content) }
}

export interface OperationsAddress {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Whether a successor may listen on the same port, where the system can do that. */
  readonly isShared: boolean
}

const ANY_LOOPBACK_PORT: OperationsAddress = { host: '127.0.0.1', port: 0, isShared: false }

/**
 * Creates an HTTP server with only these routes. Throws `ConfigError` when it cannot listen. It is that of Node.js:
 * fastify would take 7 MB of each process.
 */
export async function listenOperations(
  deps: OperationsDeps,
  { host, port, isShared }: OperationsAddress = ANY_LOOPBACK_PORT,
): Promise<AsyncDisposable & { url: string }> {
  const routes = operationsRoutes(deps)
  const isInside = isLoopback(host)
  const answer = async (request: IncomingMessage): Promise<OperationsAnswer> => {
    const { headers, url = '', method } = request
    if (isFromPage(headers, isInside)) return json(403, { error: 'web pages may not ask' })
    const route = routes.get(url.split('?', 1)[0] ?? '')
    const isRead = method === 'GET' || method === 'HEAD'
    if (route === undefined || !isRead) return json(404, { error: 'there is no such route' })
    return route(request).catch((error: unknown) => json(500, { error: messageOf(error) }))
  }
  const server = createServer((request, response) => {
    void answer(request).then(({ status, type, body }) => {
      response.writeHead(status, { 'content-type': type }).end(body)
    })
  })
  try {
    server.listen({ host, port, reusePort: isShared && canSharePort })
    await once(server, 'listening')
  } catch (error) {
    throw new ConfigError([
      `OPS_HOST=${host}, OPS_PORT=${port}: ${messageOf(error)}; each process of a machine needs a port of its own`,
    ])
  }
  const close = promisify(server.close.bind(server))
  return { url: urlOf(server), [Symbol.asyncDispose]: close }
}

/**
 * Requests of web pages are refused; on loopback also those with a host name that resolves to this machine. Elsewhere
 * probes and scrapers ask by addresses and names that are not known here.
 */
function isFromPage(headers: IncomingHttpHeaders, isInside: boolean): boolean {
  const { host: asked = '', origin, 'sec-fetch-site': site } = headers
  const isKnownHost = !isInside || isLoopback(readHost(asked)?.hostname ?? '')
  const isLocalOrigin = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '')
  // A page whose host name leads here has no other origin, but its browser says that a page asks.
  const isPage = !isInside && site !== undefined && site !== 'none'
  return !isKnownHost || !isLocalOrigin || isPage
}

/** The address for processes of this machine. */
function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.address] ?? address.address
  return `http://${isIPv6(own) ? `[${own}]` : own}:${address.port}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
