import type { ContextCompacted, ModelUsage } from '@mcp-host/contracts'
import { TurnOutcome } from '@mcp-host/contracts'
import type { Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'

export interface OrchestratorEvents {
  turnDone(outcome: TurnOutcome, usage: readonly ModelUsage[]): void
  toolRefused(): void
  modelAskedAgain(): void
  contextCompacted(how: ContextCompacted['how']): void
  /** The model's worker and the supervisors have received a cancel. */
  cancelReached(seconds: number): void
  jobsTakenOver(count: number): void
}

/**
 * The metrics of an orchestrator. `isListed`: whether a model may be a label. Clients may ask for models of any name, and
 * some providers answer for every name.
 */
export function orchestratorEvents(
  registry: Registry,
  isListed: (usage: ModelUsage) => boolean,
): OrchestratorEvents {
  const registers = [registry]
  const turns = new Counter({
    name: 'mcp_host_turns_total',
    help: 'Turns by how they ended',
    labelNames: ['outcome'],
    registers,
  })
  // Without it, the first failed turn would be no increase of its series.
  for (const outcome of TurnOutcome.options) turns.inc({ outcome }, 0)
  const tokens = new Counter({
    name: 'mcp_host_turn_tokens_total',
    help: 'Tokens of turns that are done, as the providers counted them',
    labelNames: ['provider', 'model', 'kind'],
    registers,
  })
  const cost = new Counter({
    name: 'mcp_host_turn_cost_total',
    help: 'Cost of turns that are done, by the prices in llm.json and in their currency',
    labelNames: ['provider', 'model'],
    registers,
  })
  const refused = new Counter({
    name: 'mcp_host_tool_calls_refused_total',
    help: 'Tool calls that never reached a server: unknown tool, bad JSON, over the limit, not allowed',
    registers,
  })
  const again = new Counter({
    name: 'mcp_host_generations_retried_total',
    help: 'Generations that failed and were tried again',
    registers,
  })
  const compacted = new Counter({
    name: 'mcp_host_context_compacted_total',
    help: 'How often models were sent less of a conversation, by how',
    labelNames: ['how'],
    registers,
  })
  const cancels = new Histogram({
    name: 'mcp_host_cancel_seconds',
    help: "From the stored cancel to the last answer of the model's worker and the tools' supervisors",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  })
  const takenOver = new Counter({
    name: 'mcp_host_jobs_taken_over_total',
    help: 'Messages handed back to the broker for orchestrators that were dead',
    registers,
  })
  return {
    turnDone(outcome, usage) {
      turns.inc({ outcome })
      for (const used of usage) {
        const labels = isListed(used)
          ? { provider: used.provider, model: used.model }
          : { provider: 'other', model: 'other' }
        tokens.inc({ ...labels, kind: 'input' }, used.inputTokens ?? 0)
        tokens.inc({ ...labels, kind: 'output' }, used.outputTokens ?? 0)
        cost.inc(labels, used.cost ?? 0)
      }
    },
    toolRefused: () => refused.inc(),
    modelAskedAgain: () => again.inc(),
    contextCompacted: (how) => compacted.inc({ how }),
    cancelReached: (seconds) => cancels.observe(seconds),
    jobsTakenOver: (count) => takenOver.inc(count),
  }
}
