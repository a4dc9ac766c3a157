import type { TurnOutcome } from '@mcp-host/contracts'
import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'

export interface OrchestratorEvents {
  turnDone(outcome: TurnOutcome): void
  toolRefused(): void
}

/** What the orchestrators count. */
export function orchestratorEvents(registry: Registry): OrchestratorEvents {
  const registers = [registry]
  const turns = new Counter({
    name: 'mcp_host_turns_total',
    help: 'Turns by how they ended',
    labelNames: ['outcome'],
    registers,
  })
  const refused = new Counter({
    name: 'mcp_host_tool_calls_refused_total',
    help: 'Tool calls that never reached a server: unknown tool, bad JSON, over the limit',
    registers,
  })
  return {
    turnDone: (outcome) => turns.inc({ outcome }),
    toolRefused: () => refused.inc(),
  }
}
