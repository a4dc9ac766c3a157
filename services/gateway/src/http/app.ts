import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import websocket from '@fastify/websocket'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, NOBODY } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { WebSocket } from 'ws'
import type { ApprovalQueue } from '../approvals/approval-queue.ts'
import { addApprovalRoutes } from '../approvals/approval-routes.ts'
import type { AccountRoutesDeps } from '../auth/account-routes.ts'
import { addAccountRoutes } from '../auth/account-routes.ts'
import { addAuthHooks } from '../auth/auth-hooks.ts'
import { challengeHeader } from '../auth/auth-reply.ts'
import { addAuthRoutes, addResourceMetadata } from '../auth/auth-routes.ts'
import type { ChangedToolsDeps } from '../auth/changed-tools.ts'
import { addChangedTools } from '../auth/changed-tools.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { ConnectionGuard } from '../auth/connection-guard.ts'
import { Tickets } from '../auth/tickets.ts'
import type { ClientLimits } from '../limits/unlimited.ts'
import type { GatewayConfig } from '../config.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { MaintenanceState } from '../maintenance-state.ts'
import { auditForeignSession } from '../session/audit-foreign-session.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { McpHttp } from '../mcp/mcp-http.ts'
import type { McpSocketDeps } from '../mcp/mcp-socket-routes.ts'
import { addMcpSockets } from '../mcp/mcp-socket-routes.ts'
import { addRestRoutes } from '../mcp/rest/index.ts'
import { SUBPROTOCOL } from '../mcp/mcp-socket.ts'
import type { EndpointDeps } from '../mcp/open-endpoint.ts'
import { openEndpoint } from '../mcp/open-endpoint.ts'
import type { ModelList } from '../status-summary.ts'
import type { Api } from '../edge/api.ts'
import { BodyFault, BodyReader } from '../edge/body-reader.ts'
import { addAuditRoutes } from './audit/index.ts'
import { FileSender } from './files/file-sender.ts'
import { addFileRoutes } from './files/index.ts'
import type { ChatDeps } from './chat/chat-deps.ts'
import { addChatRoutes } from './chat/index.ts'
import { DATA_HEADERS } from '../edge/data-headers.ts'
import { closeUnread } from '../edge/close-unread.ts'
import { compressAnswers } from '../edge/compress-answers.ts'
import { replyError } from '../edge/error-reply.ts'
import { addAppSandbox } from './app-sandbox.ts'
import { addFrontPage } from './front-page.ts'
import { describeRoutes } from './openapi.ts'
import { addMaintenance } from './maintenance-routes.ts'
import { limitFrames } from './limit-frames.ts'
import type { GatewayOperations } from './operations-routes.ts'
import { addOperations } from './operations-routes.ts'
import { addListModels } from './models/list-models.ts'
import { refuseUpgrades } from './refuse-upgrades.ts'
import { originGuard, originHeaders, preflightHeaders, refuseSecondHost } from '../edge/origin.ts'
import { toOriginForm } from '../edge/to-origin-form.ts'
import { readBodies } from '../edge/read-bodies.ts'
import type { OwnerOf } from '../edge/oldest-first.ts'
import { ReadBudget } from '../edge/read-budget.ts'
import { FRAME_PIECES, PacedUpgrades } from '../edge/paced-upgrades.ts'
import type { SessionRoutesDeps } from './sessions/index.ts'
import { addAssertionKeys } from '../auth/connect/assertion-keys.ts'
import { addConnectPages, addNoConnectPages } from '../auth/connect/connect-routes.ts'
import { addConnectionRoutes } from './connections/index.ts'
import { addListLimits } from './limits/list-limits.ts'
import { addExplainCall } from './policy/explain-call.ts'
import { addServerRoutes } from './servers/index.ts'
import { addWebUi } from './web-ui.ts'
import { addManageShares } from './shares/manage-shares.ts'
import { addReadShared } from './shares/read-shared.ts'
import { Shares } from './shares/shares.ts'
import { addSessionRoutes } from './sessions/index.ts'

const MAX_BODY_BYTES = 1024 * 1024

/** Longer than load balancers usually keep a connection that nothing goes through. */
const KEEP_ALIVE_MS = 72_000

/** A client must have sent its headers by then. */
const HEADERS_TIMEOUT_MS = 20_000
/** A whole body, however steadily it arrives: 20 MB on a line of 100 kbit/s. Streams and sockets last longer. */
const REQUEST_TIMEOUT_MS = 30 * 60_000
const TIMEOUT_CHECK_MS = 5_000
/** Sustained rate of all files that are sent: a share of the CPU that leaves room for other requests. */
const FILES_BYTES_PER_MS = 64 * 1024
/** Files that are sent to readers of share links at the same time: users have others. */
const MAX_SHARED_FILES = 64

/** A connection whose body waits for its turn is not read beyond this. */
const READ_BYTES = 1024

/** In an error, in characters; the rest of a longer path says no more. */
const MAX_SHOWN_PATH = 200

/** Messages by status that replace the framework's. */
const FAULTS: Readonly<Record<number, string>> = {
  415: 'body: must be JSON; send it as Content-Type: application/json, and a file as its own type, such as image/png',
}

const EVENTS = '/api/chat/session/:id/events'

/** Routes that answer while the gateway drains; sockets and streams have their own ways to move clients. */
const UNTIL_THE_END = new Set(['/health', '/ready', '/metrics', '/ws', EVENTS])

export interface AppDeps
  extends ChatDeps, EndpointDeps, Pick<McpSocketDeps, 'virtualServers' | 'passing'> {
  /** Aborts when no new request is taken, a little after `draining`. */
  readonly refusing: AbortSignal
  readonly operations: GatewayOperations
  readonly models: () => ModelList
  readonly tools: SessionRoutesDeps['tools']
  readonly live: SessionRoutesDeps['connections']
  readonly onSocket: (socket: WebSocket, request: FastifyRequest) => void
  readonly auth: Authenticator
  readonly limits: ClientLimits
  readonly maintenance: MaintenanceState
  readonly audit: GatewayAudit
  readonly pins: ChangedToolsDeps['pins']
  readonly queue: ApprovalQueue
  /** The logins of browsers. */
  readonly logins?: BrowserLogins | undefined
}

interface BrowserLogins extends Pick<AccountRoutesDeps, 'local'> {
  /** Adds their pages and endpoints. */
  addTo(
    app: FastifyInstance,
    deps: Pick<AppDeps, 'limits' | 'audit'> & { readonly bodies: BodyReader },
  ): Promise<void>
}

/** The HTTP face of the gateway. */
export async function buildApp(
  deps: AppDeps,
  settings: Pick<GatewayConfig, 'allowedOrigins' | 'heartbeatMs' | 'mcpStreamMs'> & {
    readonly webFolder?: GatewayConfig['webFolder']
    readonly policyConfig?: string
  },
  onRoute?: (route: { readonly method: string; readonly url: string }) => void,
): Promise<FastifyInstance> {
  const { logger, events, operations, onSocket, draining, refusing } = deps
  // Without logins of browsers nobody can use them.
  const hasConnectPages = deps.logins !== undefined || !deps.auth.isOn
  const { publicUrl } = deps.auth
  const linkTo = (server: string): string | undefined =>
    hasConnectPages && publicUrl !== undefined ? `${publicUrl}/connect/${server}` : undefined
  const opened = openEndpoint(deps, { ...settings, linkTo })
  const budget = new ReadBudget()
  const principals = new WeakMap<IncomingMessage, string>()
  const ownerOf: OwnerOf = (request) => principals.get(request) ?? deps.limits.addressOf(request)
  const bodies = new BodyReader(budget, { ownerOf })
  const checkOrigin = originGuard([...settings.allowedOrigins, ...deps.auth.origins])
  const guard = new ConnectionGuard(deps.auth)
  const mcp = { ...deps, ...opened, checkOrigin, bodies, guard }
  const mcpHttp = new McpHttp(mcp)
  const app = fastify({
    serverFactory(others) {
      const options = {
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        highWaterMark: READ_BYTES,
      }
      const server = createServer(options, (request, response) => {
        closeUnread(response)
        toOriginForm(request)
        if (!mcpHttp.take(request, response)) others(request, response)
      })
      // Before the listener that opens sockets.
      return server.on('upgrade', toOriginForm)
    },
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: (error, _, reply) => {
      const message = error.message.slice(0, MAX_SHOWN_PATH)
      void replyError(
        reply.headers(DATA_HEADERS),
        new BusError('invalid', message),
        error.statusCode,
      )
    },
    // The hook below says it better.
    return503OnClosing: false,
  })
  bodies.watch(app.server)
  const mcpRequests = new WeakSet<IncomingMessage>()
  const isMcp = (request: IncomingMessage): boolean => mcpRequests.has(request)
  const upgrades = new PacedUpgrades(app.server, isMcp, budget, { ownerOf })
  await app.register(websocket, {
    // A faulty connection closes itself, with a code that says why; the default cuts it before that.
    errorHandler: () => undefined,
    options: {
      // Of a server, only its upgrades are used.
      server: upgrades.server as typeof app.server,
      ...FRAME_PIECES,
      handleProtocols: (offered) =>
        offered.has(SUBPROTOCOL) ? SUBPROTOCOL : (offered.values().next().value ?? false),
    },
  })
  limitFrames(app.websocketServer, isMcp)
  upgrades.watch(app.websocketServer)
  app.addHook('onRequest', async (request, reply) => {
    // Until it is authenticated below.
    request.principal = NOBODY
    reply.headers(DATA_HEADERS)
    // Before the upgrade: a foreign page must not even get a socket.
    refuseSecondHost(request.raw)
    checkOrigin(request.headers)
    if (draining.aborted) reply.header('connection', 'close')
    if (refusing.aborted && !UNTIL_THE_END.has(request.routeOptions.url ?? '')) {
      throw new BusError('unavailable', MAINTENANCE)
    }
    reply.headers(originHeaders(request.headers) ?? {})
    const preflight = preflightHeaders(request.method, request.headers)
    if (preflight !== undefined) await deps.limits.connection(request.raw)
    return preflight && reply.code(204).headers(preflight).send()
  })
  refuseUpgrades(app)
  // Fastify's own parsers read unknown addresses' bodies without the limits here.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async () => undefined)
  app.addHook('onSend', async ({ raw }) => bodies.discard(raw))
  app.addHook('onResponse', async (request, { statusCode, elapsedTime }) => {
    const { method, routeOptions, raw } = request
    // Later requests on this connection are a successor's.
    if (draining.aborted) raw.socket.end()
    // Unknown addresses share one label, to bound the metrics.
    const route = routeOptions.url === undefined ? 'other' : `${method} ${routeOptions.url}`
    const outcome = statusCode >= 500 ? 'error' : statusCode >= 400 ? 'refused' : 'ok'
    const seconds = elapsedTime / 1_000
    events.requestAnswered({ entrance: 'http', method: route, outcome, seconds })
  })
  app.addHook('onClose', async () => guard[Symbol.dispose]())
  compressAnswers(app)
  const tickets = new Tickets(deps.bus, deps.auth)
  const shares = new Shares(deps.bus, deps.auth)
  const sending = { blobs: deps.bus.blobs, budget: new ReadBudget(FILES_BYTES_PER_MS) }
  const files = new FileSender(sending)
  const sharedFiles = new FileSender(sending, { maxSent: MAX_SHARED_FILES })
  app.websocketServer.on('connection', (socket, request) => guard.watch(socket, request))
  addAuthHooks(app, { ...deps, tickets, guard })
  app.addHook('onRequest', async ({ raw, principal }) => {
    if (principal !== NOBODY) principals.set(raw, principal.id)
  })
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) onRoute?.({ method: each, url })
  })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof BodyFault) {
      // The rest of the body is discarded so that the client sees the answer; other connections are closed.
      if (error.closes) reply.header('connection', 'close')
      else reply.removeHeader('connection')
      return replyError(reply, error, error.status)
    }
    reply.headers(
      challengeHeader(error, deps.auth, { path: pathOf(request.url), host: request.headers.host }),
    )
    const status = clientFault(error)
    if (status !== undefined) return replyError(reply, invalid(error, status), status)
    if (BusError.from(error).code === 'internal') {
      const fields = { ...requestFields(request.envelope), component: 'http' }
      // Not the path: that of a shared session is its secret.
      const action = request.routeOptions.url ?? 'unknown address'
      logger.error({ ...fields, action, err: error }, 'request failed')
    }
    return replyError(reply, error)
  })
  app.setNotFoundHandler(({ method, url }, reply) =>
    replyError(
      reply,
      new BusError('not-found', `there is no ${method} ${pathOf(url).slice(0, MAX_SHOWN_PATH)}`),
    ),
  )
  addOperations(app, operations)
  addResourceMetadata(app, deps.auth)
  addFrontPage(app, deps.catalog, await addWebUi(app, settings.webFolder))
  addAppSandbox(app)
  app.route({
    method: 'GET',
    url: '/ws',
    wsHandler: onSocket,
    handler: (_, reply) =>
      replyError(
        reply,
        new BusError('invalid', 'this is a WebSocket endpoint; connect with ws://'),
      ),
  })
  await describeRoutes(app)
  app.get('/openapi.json', () => app.swagger())
  await app.register(
    async (scope) => {
      readBodies(scope, bodies)
      const api = scope.withTypeProvider<ZodTypeProvider>()
      api.addHook('preHandler', async ({ method, params, principal, routeOptions }) => {
        const { id } = params as { readonly id?: SessionId }
        if (id !== undefined)
          auditForeignSession(deps, principal, id, `${method} ${routeOptions.url ?? ''}`)
      })
      addSessionRoutes(api, { ...deps, connections: deps.live })
      addChatRoutes(api, deps)
      addListModels(api, deps)
      addManageShares(api, { ...deps, shares, publicUrl: deps.auth.publicUrl })
      await api.register(async (open: Api) => addFileRoutes(open, { ...deps, bodies, files }))
    },
    { prefix: '/api/chat' },
  )
  await app.register(
    async (scope) => {
      readBodies(scope, bodies)
      const api = scope.withTypeProvider<ZodTypeProvider>()
      addAuthRoutes(api, { ...deps, tickets })
      addChangedTools(api, deps)
      addServerRoutes(api, deps)
      addExplainCall(api, { ...deps, policyFile: settings.policyConfig })
      addListLimits(api, deps)
      addMaintenance(api, deps)
      addAuditRoutes(api, deps)
      addApprovalRoutes(api, deps)
      await api.register(async (open: Api) =>
        addReadShared(open, { ...deps, shares, files: sharedFiles }),
      )
      addConnectionRoutes(api, { ...deps, hasConnectPages })
      addAccountRoutes(api, { ...deps, local: deps.logins?.local, publicUrl: deps.auth.publicUrl })
    },
    { prefix: '/api' },
  )
  await deps.logins?.addTo(app, { ...deps, bodies })
  addAssertionKeys(app, { ...deps, publicUrl: deps.auth.publicUrl })
  if (hasConnectPages) {
    await addConnectPages(app, { ...deps, bodies, origins: deps.auth.origins })
  } else addNoConnectPages(app)
  await app.register(async (scope) => {
    scope.addHook('onRequest', async ({ raw }) => void mcpRequests.add(raw))
    await addMcpSockets(scope, mcp, settings)
  })
  await app.register(async (scope) => {
    readBodies(scope, bodies)
    addRestRoutes(scope.withTypeProvider<ZodTypeProvider>(), mcp)
  })
  return app
}

/** The path without the query, which may hold secrets. */
function pathOf(url: string): string {
  return url.split('?')[0] ?? ''
}

/** The status of a request that the server itself could not take. */
function clientFault(error: unknown): number | undefined {
  if (error instanceof BusError || !(error instanceof Error) || !('statusCode' in error)) {
    return undefined
  }
  const { statusCode } = error
  return typeof statusCode === 'number' && statusCode < 500 ? statusCode : undefined
}

function invalid(error: unknown, status: number): BusError {
  const message = error instanceof Error ? error.message : 'not valid'
  return new BusError('invalid', FAULTS[status] ?? message)
}
