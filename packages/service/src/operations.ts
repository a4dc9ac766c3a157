import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { Registry } from 'prom-client'
import { canSharePort } from './can-share-port.ts'
import { isLoopback, readHost } from './host-header.ts'
import { ConfigError } from './settings.ts'
import { VERSION } from 'mcp-host'

export interface OperationsDeps {
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
  readonly details?: (request: FastifyRequest) => Record<string, unknown>
}

/** `/health` (the process lives), `/ready` (it can work) and `/metrics` (Prometheus). */
export function addOperations(app: FastifyInstance, deps: OperationsDeps): void {
  /** Absent while nothing is wrong. */
  const storage = async (): Promise<{ storage?: readonly string[] }> => {
    const warnings = (await deps.storageWarnings?.()) ?? []
    return warnings.length > 0 ? { storage: warnings } : {}
  }
  app.get('/health', (request) =>
    storage().then((warnings) => ({
      ok: true,
      status: warnings.storage === undefined ? 'healthy' : 'degraded',
      version: VERSION,
      service: deps.service,
      pid: process.pid,
      uptimeSeconds: Math.round(process.uptime()),
      ...(deps.isStopping?.() === true ? { stopping: true } : {}),
      ...warnings,
      ...deps.details?.(request),
    })),
  )
  app.get('/ready', async (_, reply) => {
    try {
      await deps.ready()
      const fault = deps.storageFault?.()
      if (fault === undefined) return { status: 'ready', ...(await storage()) }
      return await reply.code(503).send({ status: 'not ready', reason: fault, part: 'storage' })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return reply.code(503).send({ status: 'not ready', reason })
    }
  })
  app.get('/metrics', async (_, reply) => {
    return reply.type(deps.metrics.contentType).send(await deps.metrics.metrics())
  })
}

export interface OperationsAddress {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Whether a successor may listen on the same port, where the system can do that. */
  readonly isShared: boolean
}

const ANY_LOOPBACK_PORT: OperationsAddress = { host: '127.0.0.1', port: 0, isShared: false }

/** Creates an HTTP server with only these routes. Throws `ConfigError` when it cannot listen. */
export async function listenOperations(
  deps: OperationsDeps,
  { host, port, isShared }: OperationsAddress = ANY_LOOPBACK_PORT,
): Promise<AsyncDisposable & { url: string }> {
  const app = fastify()
  const isInside = isLoopback(host)
  app.addHook('onRequest', async ({ headers }, reply) => {
    const { host: asked = '', origin, 'sec-fetch-site': site } = headers
    // Requests of web pages are refused; on loopback also those with a host name that resolves to this machine.
    // Elsewhere probes and scrapers ask by addresses and names that are not known here.
    const isKnownHost = !isInside || isLoopback(readHost(asked)?.hostname ?? '')
    const isLocalOrigin = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '')
    // A page whose host name leads here has no other origin, but its browser says that a page asks.
    const isPage = !isInside && site !== undefined && site !== 'none'
    if (isKnownHost && isLocalOrigin && !isPage) return undefined
    return reply.code(403).send({ error: 'web pages may not ask' })
  })
  addOperations(app, deps)
  const options = { host, port, reusePort: isShared && canSharePort }
  try {
    const url = await app.listen(options)
    return { url, [Symbol.asyncDispose]: () => app.close() }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([
      `OPS_HOST=${host}, OPS_PORT=${port}: ${reason}; each process of a machine needs a port of its own`,
    ])
  }
}
