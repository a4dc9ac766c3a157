import type { ToolFinished, toolOutcome } from '@mcp-host/contracts'
import type { Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'

/** The labels of a call's metrics. */
export interface EndedCall extends Pick<ToolFinished, 'server' | 'durationMs'> {
  readonly outcome: ReturnType<typeof toolOutcome>
}

export interface SupervisorEvents {
  callStarted(): void
  callEnded(result: EndedCall): void
  /** Counts a cancelled call, and the time from the request to cancel to its end. */
  callCancelled(result: EndedCall, afterMs: number): void
}

/** The metrics of a supervisor. */
export function supervisorEvents(registry: Registry): SupervisorEvents {
  const registers = [registry]
  const running = new Gauge({
    name: 'mcp_host_tool_calls_running',
    help: 'Tool calls under way',
    registers,
  })
  const calls = new Counter({
    name: 'mcp_host_tool_calls_total',
    help: 'Tool calls by server and how they ended',
    labelNames: ['server', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'mcp_host_tool_call_seconds',
    help: 'How long tool calls took',
    labelNames: ['server', 'outcome'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  })
  const cancel = new Histogram({
    name: 'mcp_host_tool_cancel_seconds',
    help: 'From the request to cancel a tool call until its server was notified',
    labelNames: ['server'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5],
    registers,
  })
  return {
    callStarted: () => running.inc(),
    callEnded({ server, outcome, durationMs }) {
      running.dec()
      calls.inc({ server, outcome })
      seconds.observe({ server, outcome }, durationMs / 1_000)
    },
    callCancelled({ server }, afterMs) {
      cancel.observe({ server }, afterMs / 1_000)
    },
  }
}
