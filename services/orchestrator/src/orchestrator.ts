import { approvalRule, orchestratorControl } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { openAudit, pauseServer, RateLimits, takeToolCall, ToolPins } from '@mcp-host/service'
import type { OrchestratorConfig } from './config.ts'
import {
  catalogModel,
  catalogProviders,
  catalogTools,
  isListedModel,
} from './context/catalog-tools.ts'
import { resultTexts } from './results/result-texts.ts'
import { orchestratorEvents } from './events.ts'
import { exposeLoad } from './load-metrics.ts'
import type { Runs } from './handlers/run-session.ts'
import { runSession } from './handlers/run-session.ts'
import { eraseDeleted } from './sessions/erase-session.ts'
import { startJanitor } from './sessions/janitor.ts'
import { SessionRecorder } from './sessions/record-session.ts'
import { serveSessions } from './sessions/serve-sessions.ts'
import { TakeOver } from './takeover/take-over.ts'
import { warnOfUnmatched } from './turn/warn-of-unmatched.ts'
import { WorkerHeartbeats } from './turn/worker-heartbeats.ts'
import { PrincipalChecks } from './turn/principal-checks.ts'
import { TurnSlots } from './turn/turn-slots.ts'
import { SessionViews } from './turn/session-views.ts'
import { followTurnPolicy } from './context/turn-policy.ts'
import type { TurnDeps } from './turn/turn.ts'

/** Creates an orchestrator, which takes inputs of users from the log and runs their turns. */
export async function createOrchestrator(
  { bus, logger, metrics }: ServiceDeps,
  config: OrchestratorConfig,
): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  const runs: Runs = new Map()
  const leave = new AbortController()
  exposeLoad(metrics, { bus, runs })
  const catalog = await bus.catalog.watch()
  const events = orchestratorEvents(metrics, (usage) => isListedModel(catalog, usage))
  const tools = catalogTools(catalog, () => bus.sinceOutageMs())
  const views = stack.use(new SessionViews(bus))
  const recorder = stack.use(new SessionRecorder({ bus, logger }))
  const needsApproval = approvalRule(config.toolApproval)
  stack.use(warnOfUnmatched({ catalog, logger }, config.toolApproval))
  const rates = new RateLimits({ bus, logger, metrics })
  const tokens = { rate: config.limitTokens, what: 'tokens' }
  const pins = stack.use(
    await ToolPins.open({ bus, logger, metrics, catalog }, { isRecorder: false }),
  )
  const turnPolicy = followTurnPolicy(config.policyConfig, {
    tools,
    bus,
    logger,
    needsApproval,
    pins,
    permit: (...call) => takeToolCall(rates, config.limitToolCalls, ...call),
  })
  const audit = stack.use(await openAudit('orchestrator', { bus, logger, metrics }, config))
  const deps: TurnDeps = {
    bus,
    logger,
    events,
    views,
    heard: stack.use(new WorkerHeartbeats(bus)),
    tools,
    principals: new PrincipalChecks(bus),
    model: catalogModel(catalog),
    results: resultTexts(bus),
    systemPrompt: config.systemPrompt,
    limits: limitsOf(config),
    policy: stack.use(turnPolicy),
    audit,
    slots: new TurnSlots(bus, config.limitTurns),
    chargeTokens: (principal, used) => void rates.charge(tokens, principal, used),
    pauseServer: (server) => void pauseServer({ bus, logger }, server),
    note: (session, state) => recorder.note(session, state),
  }
  stack.use(await serveSessions({ ...deps, providers: catalogProviders(catalog) }))
  stack.use(startJanitor({ bus, logger, sessionTtlDays: config.sessionTtlDays }))
  // Served until the end, since other orchestrators take over the turns of one that does not answer.
  stack.use(
    bus.serve(orchestratorControl, { orchestrator: bus.id }, ({ request }) => ({
      running: runs.has(request.session),
    })),
  )
  const inputs = await bus.sessions.consumeInputs(async (entry) => {
    const verdict = await runSession(deps, runs, leave.signal, entry)
    const isDeletion = entry.kind === 'control' && entry.fact.type === 'session-deleted'
    if (verdict === 'done' && isDeletion) await eraseDeleted({ bus, logger }, entry)
    return verdict
  })
  const takeOver = stack.use(new TakeOver({ bus, logger, inputs, events }))
  const open = stack.move()
  return {
    async drain() {
      await inputs[Symbol.asyncDispose]()
      // Work in other processes goes on, and another orchestrator takes over the turns.
      leave.abort()
      await Promise.all(Array.from(runs.values(), (run) => run.ended()))
      await takeOver[Symbol.asyncDispose]()
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

function limitsOf({ contextTokens, ...limits }: OrchestratorConfig): TurnDeps['limits'] {
  return contextTokens === undefined ? limits : { ...limits, contextTokens }
}
