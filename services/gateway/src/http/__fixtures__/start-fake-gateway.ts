import { hash } from 'node:crypto'
import type { AuditRecord } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type { CatalogEntry, LogFact, ServerName, SessionId } from '@mcp-host/contracts'
import { catalogKey, generationId } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import { AccessPolicy, ClientVirtualServers } from '@mcp-host/mcp-endpoint'
import { noClients, nothing } from '@mcp-host/mcp-endpoint/testing'
import { Registry } from 'prom-client'
import { gatewayEvents } from '../../events.ts'
import { ApprovalQueue } from '../../approvals/approval-queue.ts'
import { GatewayAudit } from '../../gateway-audit.ts'
import { NO_PINS } from '../../auth/no-pins.ts'
import type { ClientLimits } from '../../limits/unlimited.ts'
import { UNLIMITED } from '../../limits/unlimited.ts'
import { MaintenanceState } from '../../maintenance-state.ts'
import { VirtualServers } from '../../mcp/virtual-servers.ts'
import type { Connection } from '../../connection/connection.ts'
import { serveSocket } from '../../socket/socket.ts'
import type { Authenticator } from '../../auth/authenticator.ts'
import { openDoor } from '../../auth/authenticator.ts'
import { buildApp } from '../app.ts'
import { FakeBus } from './fake-bus.ts'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const CATALOG: readonly CatalogEntry[] = [
  { kind: 'supervisor', id: 's', startedAt: 0, servers: {}, configured: ['a'] },
  {
    kind: 'server',
    server: 'a' as ServerName,
    supervisor: 's',
    state: 'ready',
    tools: [
      { name: 'add', inputSchema },
      { name: 'secret', inputSchema },
    ],
    prompts: [{ name: 'greet' }],
    resources: [{ uri: 'mem://one', name: 'one' }],
    resourceTemplates: [{ uriTemplate: 'mem://{id}/x', name: 'x' }],
    revision: 1,
  },
]

/** A gateway on a port of its own; the bus behind it is in memory and answers every message and every call at once. */
export interface FakeGateway extends AsyncDisposable {
  readonly url: string
  readonly bus: FakeBus & { readonly forwarded: unknown[]; readonly servers: string[] }
  readonly queue: ApprovalQueue
  readonly routes: readonly { readonly method: string; readonly url: string }[]
  /** The errors that the gateway logged. */
  readonly errors: readonly unknown[]
}

export interface FakeGatewayOptions {
  /** Default: every client is the local admin. */
  readonly auth?: Authenticator
  /** Default: everything is allowed. */
  readonly policy?: AccessPolicy
  /** Default: one server `a`. */
  readonly catalog?: readonly CatalogEntry[]
  /** Default: none is ever reached. */
  readonly limits?: ClientLimits
  /** Gets the entries of the audit log. Default: there is none. */
  readonly record?: (entry: AuditRecord) => void
}

export async function startFakeGateway({
  auth = openDoor('http://127.0.0.1:3000'),
  policy = new AccessPolicy(),
  catalog: catalogEntries = CATALOG,
  limits = UNLIMITED,
  record,
}: FakeGatewayOptions = {}): Promise<FakeGateway> {
  const bus = new AnsweringBus()
  const audit = new GatewayAudit(
    record && {
      record(entry) {
        record(entry)
        return undefined
      },
    },
  )
  const errors: unknown[] = []
  const quiet = (): void => undefined
  // Only the parts that the gateway uses.
  const logger = {
    info: quiet,
    warn: quiet,
    error: (fields: unknown) => errors.push(fields),
  } as unknown as Logger
  const draining = new AbortController()
  const metrics = new Registry()
  const entries = new Map(catalogEntries.map((entry) => [catalogKey(entry), entry]))
  const catalog = { entries, onChange: () => nothing }
  const virtualServers = new VirtualServers(catalog)
  virtualServers.setBundles({ all: {} })
  const connections = new Set<Connection>()
  const queue = new ApprovalQueue({ bus: bus.asBus(), audit }, { timeoutMs: 60_000 })
  const routes: { method: string; url: string }[] = []
  const common = {
    bus: bus.asBus(),
    logger,
    events: gatewayEvents(metrics),
    draining: draining.signal,
    refusing: draining.signal,
    connections,
    signSession: (text: string) => hash('sha256', text),
    welcome: () => 'Welcome',
    limits,
    maintenance: await MaintenanceState.open(bus.asBus()),
    audit,
  }
  const app = await buildApp(
    {
      ...common,
      operations: { service: 'gateway', metrics, ready: async () => undefined },
      auth,
      onSocket: (socket, request) =>
        void serveSocket(common, socket, request, { heartbeatMs: 30_000 }),
      policy,
      pins: NO_PINS,
      queue,
      passing: new InFlight(),
      clients: noClients,
      clientVirtualServers: new ClientVirtualServers({
        versions: () => undefined,
        onChange: () => nothing,
        read: async () => undefined,
      }),
      catalog,
      virtualServers,
      models: () => ({ default: { provider: 'demo', model: 'demo-1' }, providers: [] }),
      tools: () => [{ server: 'a', tool: 'add', state: 'ready' }],
      live: { of: async () => [] },
    },
    { allowedOrigins: [], heartbeatMs: 30_000, mcpStreamMs: 0 },
    (route) => routes.push(route),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    bus,
    queue,
    routes,
    errors,
    async [Symbol.asyncDispose]() {
      draining.abort()
      for (const socket of app.websocketServer.clients) socket.terminate()
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/** Ends each turn as soon as its message is stored, and answers each call of a server. */
class AnsweringBus extends FakeBus {
  readonly id = 'gateway'

  override store(
    session: SessionId,
    fact: LogFact,
    messageId?: string,
  ): ReturnType<FakeBus['store']> {
    const stored = super.store(session, fact, messageId)
    if (fact.kind === 'input' && !stored.duplicate) this.#answer(session, stored.seq, fact.fact.id)
    return stored
  }

  readonly emit = (): void => undefined
  readonly listen = (): Disposable => nothing

  /** Requests that reached the server. */
  readonly forwarded: unknown[] = []

  /** Their servers. */
  readonly servers: string[] = []

  readonly callOpaque: Bus['callOpaque'] = (_contract, params, question, _options, listener) => {
    this.forwarded.push(question.head)
    // The parameters of all contracts that end here have the server.
    this.servers.push((params as unknown as { server: string }).server)
    // Any result would do, which TypeScript cannot see through the contract.
    const head = { type: 'result' } as never
    setImmediate(() => listener.onAnswer({ head, body: Buffer.from('{"content":[]}') }))
  }

  #answer(session: SessionId, turn: number, messageId: string): void {
    const base = { turn, seen: turn, messageId }
    const generation = generationId(session, turn)
    const claim = {
      type: 'turn-claimed',
      orchestrator: 'o',
      epoch: 1,
      generation,
      ...base,
    } as const
    super.store(session, { kind: 'turn', fact: claim })
    const content = [{ type: 'text' as const, text: 'hello' }]
    const result = { generation, outcome: 'completed' as const, content, provider: 'p', model: 'm' }
    super.store(session, { kind: 'generation', fact: result })
    super.store(session, {
      kind: 'turn',
      fact: { type: 'turn-done', outcome: 'completed', ...base },
    })
  }
}
