import type { ReloadResult, ServerStats } from '@mcp-host/contracts'
import { BusError, RESERVED_SERVER_NAMES, ServerName } from '@mcp-host/contracts'
import type { Logger, Service, ServiceDeps } from '@mcp-host/service'
import { openAudit } from '@mcp-host/service'
import { Guardian, watchFile } from '@mcp-host/process'
import type { Environment } from '@mcp-host/process'
import type { McpConfig } from '@mcp-host/mcp-json'
import type { Sandbox } from '@mcp-host/upstream'
import { ConfigurationError, describeFault, loadMcpConfig } from '@mcp-host/mcp-json'
import { MetricsRegistry, openSandbox } from '@mcp-host/upstream'
import { findNameClashes } from '@mcp-host/mcp'
import {
  answerServerRequest,
  bindSubjects,
  callSteps,
  CatalogPublisher,
  exposeToolMetrics,
  openUpstreams,
  ResumableRequests,
  RunningCalls,
  supervisorEvents,
  withToolUse,
} from '@mcp-host/mcp-bus/serve'
import { builtInServers } from './built-in/index.ts'
import type { SupervisorConfig } from './config.ts'
import { HostLogins } from './logins/host-logins.ts'
import { serverLogins } from './logins/server-logins.ts'
import { Peers } from './leases/peers.ts'
import { Placement } from './placement/placement.ts'
import { ProcessSlots } from './placement/process-slots.ts'
import { ServerPauses } from './placement/server-pauses.ts'
import { withRestarts } from './with-restarts.ts'

const USER_CONNECTIONS = { what: 'connections of users', setting: 'MAX_USER_CONNECTIONS' }

/** Creates a supervisor, which runs the MCP servers of `mcp.json` and takes requests to them from the bus. */
export async function createSupervisor(
  { bus, logger, metrics, proxyFor }: ServiceDeps,
  config: SupervisorConfig,
  env: Environment,
): Promise<Service> {
  const { mcpJsonPath, inputTimeoutMs, maxSessionProcesses } = config
  await using stack = new AsyncDisposableStack()
  const started = Promise.withResolvers<void>()
  /** The queue of changes. Each reload reads the file, so that its latest content takes effect. */
  let changes: Promise<unknown> = started.promise
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const changed = changes.then(change)
    changes = changed.catch(() => undefined)
    return changed
  }
  const reload = (): Promise<ReloadResult> => inTurn(() => readAndApply())
  const reloadAndLog = (): void => {
    reload().catch((err: unknown) => {
      // A faulty configuration is already logged and published.
      if (!(err instanceof BusError))
        logger.error({ component: 'supervisor', action: 'reload', err }, 'could not reload')
    })
  }
  // The watch begins before the file is read, so that no change is missed.
  stack.use(
    watchFile(mcpJsonPath, reloadAndLog, (err) =>
      logger.warn({ component: 'supervisor', action: 'watch', err }, 'reload by SIGHUP instead'),
    ),
  )
  let warnings: readonly string[] = []
  const load = async (): Promise<McpConfig> => {
    const found: string[] = []
    const read = await loadMcpConfig(mcpJsonPath, env, {
      reservedNames: RESERVED_SERVER_NAMES,
      onWarning(warning) {
        const fields = { component: 'supervisor', action: 'read-config', ...warning }
        logger.warn(fields, describeFault(warning))
        found.push(describeFault(warning))
      },
    })
    warnings = found
    return withRestarts(read)
  }
  let mcpConfig = await load()
  warnOfNameClashes(logger, mcpConfig)
  const guardian = stack.use(new Guardian())
  const toolMetrics = new MetricsRegistry()
  exposeToolMetrics(metrics, toolMetrics)
  const calls = new RunningCalls()
  const { defaultToolTimeoutMs, installTimeoutMs } = config
  const timeouts = { defaultToolTimeoutMs, installTimeoutMs }
  const sandbox = await openSandbox(sandboxOptions(config, env))
  logSandbox(logger, sandbox)
  // What servers offer does not matter here, and large lists take a while to read.
  const view = await bus.catalog.watch({ withLists: false })
  const openUpstream = openUpstreams(guardian, {
    env,
    builtIn: builtInServers({ bus, catalog: view, proxyFor }),
    logger,
    sandbox,
    proxyFor,
    metrics: toolMetrics,
    // Gateways compare the announcements of several supervisors.
    now: () => bus.clock.now(),
    ...timeouts,
  })
  const subjects = bindSubjects(bus)
  const inputDeps = { bus, logger, calls, inputTimeoutMs }

  const leases = await bus.leases.watch('server.*')
  const peers = new Peers(bus)
  const pauses = stack.use(await ServerPauses.open(bus))
  let faults: string | undefined
  const warn = (err: unknown): void => {
    logger.warn({ component: 'catalog', action: 'publish', err }, 'could not publish; trying again')
  }
  const publisher = stack.use(
    new CatalogPublisher({
      bus,
      view,
      isGone: (supervisor) => peers.isGone(supervisor),
      stats: (): Readonly<Record<string, ServerStats>> =>
        withToolUse(placement.stats(), toolMetrics.snapshot()),
      configured: () => Object.keys({ ...mcpConfig.servers, ...mcpConfig.faulty }),
      faults: () => faults,
      warnings: () => warnings,
      warn,
      onHeartbeat: () =>
        logger.trace({ component: 'catalog', action: 'heartbeat' }, 'this supervisor is present'),
    }),
  )
  const sendHeartbeat = (): void => void publisher.sendHeartbeat().catch(warn)
  // Disposed after the servers, so that their last calls are recorded.
  const audit = stack.use(await openAudit('mcp-supervisor', { bus, logger, metrics }, config))
  // Disposed after the servers, whose tokens it keeps.
  const logins = stack.use(await HostLogins.open({ bus, peers, logger, metrics, audit }, config))
  // Disposed after the servers, so that their last replies can be resumed.
  const resumable = stack.use(new ResumableRequests({ bus }))
  const placement = stack.use(
    new Placement({
      bus,
      subjects,
      logger,
      events: supervisorEvents(metrics),
      audit,
      steps: callSteps({ audit }),
      calls,
      resumable,
      catalog: view,
      leases,
      peers,
      publisher,
      slots: new ProcessSlots(maxSessionProcesses),
      userSlots: new ProcessSlots(config.maxUserConnections, USER_CONNECTIONS),
      logins,
      pauses,
      openUpstream,
      onRemoved: (server) => toolMetrics.forget(server),
      inputTimeoutMs,
      callbackOf: (session) => (request) =>
        answerServerRequest(inputDeps, { session, server: request.server, request }),
      onDead(supervisor) {
        logger.warn({ component: 'placement', action: 'peer-dead', supervisor }, 'a peer is gone')
        publisher.forget(supervisor).catch(warn)
      },
    }),
  )

  /** Publishes the servers whose entries in `mcp.json` have faults, as unavailable. */
  const publishFaulty = (): void => {
    for (const [name, found] of Object.entries(mcpConfig.faulty ?? {})) {
      const error = found.map(describeFault).join('\n')
      logger.error({ component: 'supervisor', action: 'read-config', server: name }, error)
      const server = ServerName.parse(name)
      const state = { state: 'unavailable' as const, since: Date.now(), error, tools: [] }
      publisher.set({ kind: 'server', server, supervisor: bus.id, ...state })
    }
  }
  const readAndApply = async (): Promise<ReloadResult> => {
    let next: McpConfig
    try {
      next = await load()
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      faults = error.faults.map(describeFault).join('\n')
      sendHeartbeat()
      const fields = { component: 'supervisor', action: 'reload', err: error }
      logger.error(fields, 'the changed configuration is faulty; the last valid one stays')
      throw new BusError('invalid', error.message, { cause: error })
    }
    faults = undefined
    const before = mcpConfig.faulty ?? {}
    mcpConfig = next
    warnOfNameClashes(logger, mcpConfig)
    // Sent before the change is applied: removed servers do not count, even while their last calls run.
    sendHeartbeat()
    // Placements publish the servers that can be used now.
    for (const name of Object.keys(before)) publisher.remove(ServerName.parse(name))
    const result = await placement.apply(next)
    publishFaulty()
    sendHeartbeat()
    logger.info({ component: 'supervisor', action: 'reload', ...result }, 'configuration reloaded')
    return result
  }

  // Served before the first lease, since the holder of a lease must answer pings.
  const served = subjects.supervisor({
    reload,
    restart: async (server) => placement.policy(server).restart(),
    output: (server) => placement.policy(server).output,
    runSessionTool: (server, call) => placement.policy(server).runSessionTool(call),
    resume: async ({ head }, send) => resumable.resume(head, send),
  })
  stack.use(
    subjects.logins(serverLogins({ logger, proxyFor, logins, servers: () => mcpConfig.servers })),
  )
  await publisher.start()
  publishFaulty()
  await placement.apply(mcpConfig)
  pauses.follow(() => void inTurn(() => placement.followPauses()))
  started.resolve()

  process.on('SIGHUP', reloadAndLog)
  stack.defer(() => void process.off('SIGHUP', reloadAndLog))
  const open = stack.move()
  return {
    drain: () => placement.drain(),
    async [Symbol.asyncDispose]() {
      await open.disposeAsync()
      // Ended last, since the holder of a lease must answer pings.
      served[Symbol.dispose]()
    },
  }
}

function sandboxOptions(
  config: SupervisorConfig,
  env: Environment,
): Parameters<typeof openSandbox>[0] {
  return {
    kind: config.sandbox,
    env,
    homes: config.sandboxHomes,
    hidden: config.sandboxHidden,
    readOnly: config.sandboxReadOnly,
    writable: config.sandboxWritable,
  }
}

function logSandbox(logger: Logger, { kind, lack, open }: Sandbox): void {
  const fields = { component: 'supervisor', action: 'sandbox', sandbox: kind }
  for (const path of open) {
    logger.warn({ ...fields, path }, `MCP servers can read ${path}: close it to other users`)
  }
  if (lack === undefined) logger.info(fields, `MCP servers run in the sandbox "${kind}"`)
  else if (kind !== 'none')
    logger.error(fields, `MCP servers of this machine do not start: ${lack}`)
  else logger.warn(fields, `MCP servers can read what this supervisor can read: ${lack}`)
}

function warnOfNameClashes(logger: Logger, { servers }: McpConfig): void {
  for (const { server, other } of findNameClashes(Object.keys(servers))) {
    const message = `the names of "${server}" could be those of "${other}", so at /mcp they end in a hash; rename one of the two`
    logger.warn({ component: 'supervisor', action: 'name', server, other }, message)
  }
}
