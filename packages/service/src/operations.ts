import type { FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import type { Registry } from 'prom-client'
import { isLoopback, readHost } from './host-header.ts'
import { VERSION } from 'mcp-host'

export interface OperationsDeps {
  readonly service: string
  readonly metrics: Registry
  /** Resolves when the process can do its work, rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>
  /** Why durable writes fail; `undefined` when they do not. */
  readonly storageFault?: () => string | undefined
  /** Whether the process was told to stop: a successor may start. */
  readonly isStopping?: () => boolean
  /** Further fields of `/health`; `status` may become `degraded`. */
  readonly details?: () => Record<string, unknown>
}

/** `/health` (the process lives), `/ready` (it can work) and `/metrics` (Prometheus). */
export function addOperations(app: FastifyInstance, deps: OperationsDeps): void {
  app.get('/health', () => ({
    ok: true,
    status: 'healthy',
    version: VERSION,
    service: deps.service,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    ...(deps.isStopping?.() === true ? { stopping: true } : {}),
    ...deps.details?.(),
  }))
  app.get('/ready', async (_, reply) => {
    try {
      await deps.ready()
      const fault = deps.storageFault?.()
      if (fault === undefined) return { status: 'ready' }
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

/** A server with nothing but those, on a free loopback port, for services without one of their own. */
export async function listenOperations(
  deps: OperationsDeps,
): Promise<AsyncDisposable & { url: string }> {
  const app = fastify()
  app.addHook('onRequest', async ({ headers: { host = '', origin } }, reply) => {
    // A web page may have caused it, under a host name that was bent to this machine.
    const isHere = isLoopback(readHost(host)?.hostname ?? '')
    const isOurs = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '')
    if (isHere && isOurs) return undefined
    return reply.code(403).send({ error: 'only programs of this machine may ask' })
  })
  addOperations(app, deps)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, [Symbol.asyncDispose]: () => app.close() }
}
