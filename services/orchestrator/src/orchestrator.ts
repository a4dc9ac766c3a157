import { orchestratorControl } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { OrchestratorConfig } from './config.ts'
import { catalogTools } from './context/catalog-tools.ts'
import { orchestratorEvents } from './events.ts'
import type { Runs } from './handlers/run-session.ts'
import { runSession } from './handlers/run-session.ts'
import type { TurnDeps } from './turn/turn.ts'

/** An orchestrator: takes user messages from the log and runs their turns. */
export async function createOrchestrator(
  { bus, logger, metrics }: ServiceDeps,
  config: OrchestratorConfig,
): Promise<Service> {
  const runs: Runs = new Map()
  const deps: TurnDeps = {
    bus,
    logger,
    events: orchestratorEvents(metrics),
    tools: catalogTools(await bus.catalog.watch()),
    systemPrompt: config.systemPrompt,
    limits: { maxToolCalls: config.maxToolCalls },
  }
  const control = bus.serve(orchestratorControl, { orchestrator: bus.id }, ({ request }) => ({
    running: runs.has(request.session),
  }))
  const inputs = await bus.sessions.consumeInputs((entry) => runSession(deps, runs, entry))
  return {
    async drain() {
      await inputs[Symbol.asyncDispose]()
      await Promise.all(Array.from(runs.values(), (run) => run.ended()))
    },
    async [Symbol.asyncDispose]() {
      control[Symbol.dispose]()
    },
  }
}
