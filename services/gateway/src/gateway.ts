import { createHmac } from 'node:crypto'
import type { Bus } from '@mcp-host/bus'
import { approvalRule } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { InFlight } from '@mcp-host/service'
import { capabilities } from './status-summary.ts'
import type { GatewayConfig } from './config.ts'
import { canSharePort } from './config.ts'
import { gatewayEvents } from './events.ts'
import { buildApp } from './http/app.ts'
import { followBundles } from './mcp/follow-bundles.ts'
import { BusClients } from './mcp/bus-clients.ts'
import { BusClientListings } from './mcp/bus-client-listings.ts'
import { Approvals } from './mcp/core/approvals.ts'
import { JsonRpcCode, JsonRpcError } from './mcp/core/json-rpc.ts'
import { StateSeal } from './mcp/core/state-seal.ts'
import { ClientVirtualServers } from './mcp/core/client-virtual-servers.ts'
import { VirtualServers } from './mcp/virtual-servers.ts'
import type { Connection } from './connection/connection.ts'
import { serveSocket } from './socket/socket.ts'
import { LiveConnections } from './connection/live-connections.ts'
import { MAINTENANCE } from './standard-messages.ts'

/** How long clients have to answer the close of their socket. */
const CLOSE_LIMIT_MS = 1_000
/** How long a draining gateway takes requests: of connections that were opened just before. */
const LAST_REQUESTS_MS = 1_000

/** A gateway: the edge for clients. Any of them serves any client. */
export async function createGateway(
  { bus, logger, metrics, operations }: ServiceDeps,
  config: GatewayConfig,
): Promise<Service> {
  const catalog = await bus.catalog.watch()
  const records = await bus.mcpClients.watch()
  const clients = new BusClients(bus, records)
  const secret = await bus.secret('mcp-session')
  const ownLists = new BusClientListings({ bus, catalog, clients: records })
  const virtualServers = new VirtualServers(catalog)
  const bundles = followBundles(
    config.bundlesConfig,
    (read) => virtualServers.setBundles(read),
    logger,
  )
  const able = capabilities(catalog)
  const connections = new Set<Connection>()
  const passing = new InFlight()
  const draining = new AbortController()
  const refusing = new AbortController()
  const events = gatewayEvents(metrics)
  const live = new LiveConnections({ bus, connections })
  const deps = {
    bus,
    catalog,
    virtualServers,
    clients,
    clientVirtualServers: new ClientVirtualServers(ownLists),
    approvals: approvalsOf(bus, config),
    signSession: (text: string) => createHmac('sha256', secret).update(text).digest('hex'),
    logger,
    events,
    draining: draining.signal,
    refusing: refusing.signal,
    connections,
    passing,
    welcome: () => able.welcome(),
  }
  const app = await buildApp(
    {
      ...deps,
      operations: { ...operations, details: () => able.summary() },
      models: () => able.models(),
      tools: () => able.tools(),
      live,
      onSocket: (socket, request) => void serveSocket(deps, socket, request, config),
    },
    config,
  )
  const { host, port } = config
  const options = { host, port, backlog: 4096, reusePort: canSharePort }
  const url = await app.listen(options)
  let closed: Promise<unknown> | undefined
  return {
    url,
    async drain() {
      // First: clients that are sent away come back to a successor, which may share the port.
      closed = new Promise((resolve) => app.server.close(resolve))
      draining.abort()
      setTimeout(() => refusing.abort(), LAST_REQUESTS_MS).unref()
      for (const connection of connections) {
        const { sessionId, lastEventId } = connection
        const query = `sessionId=${sessionId}&after=${lastEventId}`
        void connection.send({
          type: 'connection',
          id: lastEventId,
          payload: { state: 'reconnecting', message: MAINTENANCE, sessionId },
        })
        connection.close(1012, query)
      }
      await passing.idle()
    },
    async [Symbol.asyncDispose]() {
      // A client that does not answer the close would hold it up for half a minute.
      const late = setTimeout(() => {
        for (const socket of app.websocketServer.clients) socket.terminate()
        app.server.closeAllConnections()
      }, CLOSE_LIMIT_MS)
      await app.close()
      // Of a server that was closed before it does not wait for the connections.
      await closed
      clearTimeout(late)
      live[Symbol.dispose]()
      ownLists[Symbol.dispose]()
      clients[Symbol.dispose]()
      bundles[Symbol.dispose]()
    },
  }
}

/** `undefined`: no tool needs it. */
function approvalsOf(
  bus: Pick<Bus, 'secret'>,
  { toolApproval, approvalTimeoutMs: timeoutMs }: GatewayConfig,
): Approvals | undefined {
  if (toolApproval.length === 0) return undefined
  const seal = new StateSeal(() =>
    bus.secret('mcp-state').catch(() => {
      const message = 'the user cannot be asked right now; try again'
      throw new JsonRpcError(JsonRpcCode.unavailable, message, { data: { retryable: true } })
    }),
  )
  return new Approvals({ rule: approvalRule(toolApproval), seal, timeoutMs })
}
