import { createHmac } from 'node:crypto'
import type { Bus } from '@mcp-host/bus'
import { Accounts } from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import { approvalRule, principalCheck } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { Policy } from '@mcp-host/policy'
import { OPEN_POLICY } from '@mcp-host/policy'
import { sentArguments } from '@mcp-host/upstream/arguments'
import { InFlight } from '@mcp-host/async'
import { canSharePort, openAudit, RateLimits, ToolPins } from '@mcp-host/service'
import { ApprovalQueue } from './approvals/approval-queue.ts'
import type { VisibleTools } from './status-summary.ts'
import { capabilities } from './status-summary.ts'
import { createAuthenticator } from './auth/authenticator.ts'
import { publicAddress } from './auth/public-address.ts'
import type { GatewayConfig } from './config.ts'
import { GatewayLimits } from './limits/gateway-limits.ts'
import { GatewayAudit } from './gateway-audit.ts'
import { gatewayEvents } from './events.ts'
import { buildApp } from './http/app.ts'
import { followPolicy } from './mcp/follow-policy.ts'
import { followBundles } from './mcp/follow-bundles.ts'
import { BusClients } from './mcp/bus-clients.ts'
import { BusClientListings } from './mcp/bus-client-listings.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import {
  AccessPolicy,
  Approvals,
  ClientVirtualServers,
  JsonRpcError,
  StateSeal,
  type VirtualServer,
} from '@mcp-host/mcp-endpoint'
import { VirtualServers } from './mcp/virtual-servers.ts'
import type { Connection } from './connection/connection.ts'
import { serveSocket } from './socket/socket.ts'
import { LiveConnections } from './connection/live-connections.ts'
import { MaintenanceState } from './maintenance-state.ts'
import { MAINTENANCE } from './standard-messages.ts'
import { closeListener } from './edge/close-listener.ts'
import { openLogins } from './open-logins.ts'
import { MakerCheck } from './auth/maker-check.ts'
import { SharedStorageFault } from './shared-storage-fault.ts'
import { exposeServers } from './server-metrics.ts'

/** The time limit for the close frames of clients. */
const CLOSE_LIMIT_MS = 1_000
/** The time for which a draining gateway still takes requests of new connections. */
const LAST_REQUESTS_MS = 1_000

/** Creates a gateway, through which clients reach the host. Every gateway serves every client. */
export async function createGateway(
  { bus, logger, metrics, operations, proxyFor }: ServiceDeps,
  config: GatewayConfig,
): Promise<Service> {
  const events = gatewayEvents(metrics)
  const catalog = await bus.catalog.watch()
  exposeServers(metrics, catalog)
  const records = await bus.mcpClients.watch()
  const clients = new BusClients(bus, records)
  const secret = await bus.secret('mcp-session')
  const ownLists = new BusClientListings({ bus, catalog, clients: records })
  const virtualServers = new VirtualServers(catalog)
  const bundles = followBundles(config.bundlesConfig, (read) => virtualServers.setBundles(read), {
    bus,
    logger,
  })
  const auditLog = await openAudit('gateway', { bus, logger, metrics }, config)
  const audit = new GatewayAudit(auditLog)
  const pins = await ToolPins.open(
    { bus, logger, metrics, catalog, onChange: () => policy.refresh() },
    { isRecorder: true },
  )
  const limits = new GatewayLimits(new RateLimits({ bus, logger, metrics }), config)
  const policy: AccessPolicy = new AccessPolicy({
    needsApproval: approvalRule(config.toolApproval),
    onDenied(...denied) {
      events.callDenied()
      audit.callDenied(...denied)
    },
    quarantine: pins,
    limit: (...call) => limits.toolCall(...call),
  })
  const setPolicy = (read: Policy): void => {
    policy.set(read)
    pins.setMode(read.pin)
    if (read !== OPEN_POLICY) audit.policyChanged(read.rules.length, read.default)
  }
  const policyFile = followPolicy(config.policyConfig, setPolicy, { bus, logger })
  const able = capabilities(catalog)
  const visibleTo = (principal: Principal) =>
    visibleTools(policy.view(principal, virtualServers.all()))
  const hiddenFrom = (principal: Principal) => (server: string) =>
    policy.isServerHidden(principal, server)
  const connections = new Set<Connection>()
  const passing = new InFlight()
  const draining = new AbortController()
  const refusing = new AbortController()
  const live = new LiveConnections({ bus, connections })
  const address = publicAddress(config)
  const accounts = await Accounts.open(bus)
  const makers = await MakerCheck.open({ bus, accounts }, config)
  const logins = await openLogins(
    { bus, accounts, makers, logger, address, audit, proxyFor },
    config,
  )
  await logins?.local?.offerFirstAdmin()
  const auth = createAuthenticator(
    {
      makers,
      localTokens: logins?.local?.tokens,
      logins: logins?.sessions,
      onLogin: (principal) => audit.loggedIn(principal),
    },
    config,
    address,
  )
  const principalChecks = bus.serve(principalCheck, {}, ({ request: { principal, roles } }) => ({
    isInOrder: makers.hasRoles(principal, roles),
  }))
  const maintenance = await MaintenanceState.open(bus)
  const sharedFault = new SharedStorageFault(bus)
  const queue = new ApprovalQueue({ bus, audit }, { timeoutMs: config.approvalTimeoutMs })
  const deps = {
    bus,
    catalog,
    virtualServers,
    clients,
    clientVirtualServers: new ClientVirtualServers(ownLists),
    policy,
    approvals: approvalsOf(bus, config, audit, queue, address.publicUrl),
    queue,
    audit,
    pins,
    limits,
    maintenance,
    signSession: (text: string) => createHmac('sha256', secret).update(text).digest('hex'),
    logger,
    events,
    draining: draining.signal,
    refusing: refusing.signal,
    connections,
    passing,
    welcome: (principal: Principal) => able.welcome(hiddenFrom(principal)),
  }
  const app = await buildApp(
    {
      ...deps,
      operations: {
        ...operations,
        storageFault: () => operations.storageFault?.() ?? sharedFault.current(),
        storageWarnings: async () => {
          const own = (await operations.storageWarnings?.()) ?? []
          const shared = own.length > 0 ? undefined : sharedFault.current()
          return [...own, ...(shared === undefined ? [] : [shared]), ...able.storageWarnings()]
        },
        details: ({ principal }) => ({
          ...able.summary(principal, visibleTo(principal), hiddenFrom(principal)),
          clock: bus.clock.state(),
          maintenance: maintenance.current && {
            notice: maintenance.current.notice,
            since: new Date(maintenance.current.since).toISOString(),
          },
        }),
      },
      models: () => able.models(),
      tools: (principal) =>
        able.tools((server, tool) => policy.isToolHidden(principal, server, tool)),
      live,
      auth,
      logins,
      onSocket: (socket, request) => void serveSocket(deps, socket, request, config),
    },
    config,
  )
  const { host, port } = config
  const options = { host, port, backlog: 4096, reusePort: canSharePort }
  const url = await app.listen(options)
  let closed: Promise<void> | undefined
  return {
    url,
    async drain() {
      // This comes first, since clients that are sent away come back to a successor, which may share the port.
      const listener = await closeListener(app.server)
      closed = listener.closed
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
      // A client that does not answer the close would delay it by half a minute.
      const late = setTimeout(() => {
        for (const socket of app.websocketServer.clients) socket.terminate()
        app.server.closeAllConnections()
      }, CLOSE_LIMIT_MS)
      await app.close()
      // The closing of the app does not wait for the connections of a server that was closed earlier.
      await closed
      clearTimeout(late)
      live[Symbol.dispose]()
      principalChecks[Symbol.dispose]()
      sharedFault[Symbol.dispose]()
      ownLists[Symbol.dispose]()
      clients[Symbol.dispose]()
      await Promise.all([bundles[Symbol.asyncDispose](), policyFile[Symbol.asyncDispose]()])
      pins[Symbol.dispose]()
      audit[Symbol.dispose]()
      await auditLog?.[Symbol.asyncDispose]()
    },
  }
}

function approvalsOf(
  bus: Pick<Bus, 'secret'>,
  { approvalTimeoutMs: timeoutMs }: GatewayConfig,
  audit: GatewayAudit,
  queue: ApprovalQueue,
  publicUrl: string,
): Approvals {
  const seal = new StateSeal(() =>
    bus.secret('mcp-state').catch(() => {
      const message = 'the user cannot be asked right now; try again'
      throw new JsonRpcError(JsonRpcCode.unavailable, message, { data: { retryable: true } })
    }),
  )
  return new Approvals({
    seal,
    queue,
    sentArguments,
    timeoutMs,
    pageUrl: `${publicUrl}/#/approvals`,
    onAnswered: (...answer) => audit.approvalAnswered(...answer),
  })
}

/** The number of visible tools of each server. */
function visibleTools({ listing }: VirtualServer): VisibleTools {
  return (name) => listing.servers.find(({ server }) => server === name)?.tools.length
}
