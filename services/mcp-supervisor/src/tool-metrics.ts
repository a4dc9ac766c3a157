import type { CallMetrics, CallOutcome, MetricsRegistry, ServerMetrics } from 'mcp-host'
import type { HistogramConfiguration, Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'

type Label = 'server' | 'tool'
interface Tool {
  readonly labels: Readonly<Record<Label, string>>
  readonly calls: CallMetrics
}

const OUTCOMES: readonly CallOutcome[] = ['success', 'error', 'cancelled', 'refused']
/** The library's buckets that are exported per tool, in milliseconds. */
const BUCKETS_MS: ReadonlySet<number> = new Set([
  1,
  4.7,
  22,
  100,
  470,
  1000,
  4700,
  15_000,
  68_000,
  Infinity,
])

/**
 * Exposes what the library counts of every tool that was called. Its labels are bounded: it counts known tools
 * alone, and at most 1,000 of a server.
 */
export function exposeToolMetrics(registry: Registry, source: MetricsRegistry): void {
  const registers = [registry]
  const labelNames: Label[] = ['server', 'tool']
  const tools = (): Tool[] =>
    Object.entries(source.snapshot().servers).flatMap(([server, known]) =>
      Object.entries(known.tools).map(([tool, calls]) => ({ labels: { server, tool }, calls })),
    )
  const requests: Counter = new Counter({
    name: 'mcp_host_server_requests_total',
    help: 'Requests to MCP servers by tool, or by method where it is no tool, and how they ended',
    labelNames: [...labelNames, 'outcome'],
    registers,
    collect() {
      requests.reset()
      for (const { labels, calls } of tools())
        for (const outcome of OUTCOMES) requests.inc({ ...labels, outcome }, calls[outcome])
    },
  })
  const inFlight: Gauge = new Gauge({
    name: 'mcp_host_server_requests_in_flight',
    help: 'Requests to MCP servers that have begun and not ended',
    labelNames,
    registers,
    collect() {
      inFlight.reset()
      for (const { labels, calls } of tools()) inFlight.set(labels, calls.inFlight)
    },
  })
  exposeServerCounters(registry, source)
  // It registers itself.
  void new ToolLatencies(
    {
      name: 'mcp_host_server_request_seconds',
      help: 'How long requests to MCP servers took that ended with success or an error',
      labelNames,
      registers,
    },
    tools,
  )
}

/** Counts retries, circuit breaker changes and chosen instances of each server. */
function exposeServerCounters(registry: Registry, source: MetricsRegistry): void {
  const registers = [registry]
  const servers = (): [server: string, counters: ServerMetrics['counters']][] =>
    Object.entries(source.snapshot().servers).map(([server, { counters }]) => [server, counters])
  const retries: Counter = new Counter({
    name: 'mcp_host_server_retries_total',
    help: 'Requests to MCP servers that were sent once more',
    labelNames: ['server'],
    registers,
    collect() {
      retries.reset()
      for (const [server, { retries: count }] of servers()) retries.inc({ server }, count)
    },
  })
  const circuits: Counter = new Counter({
    name: 'mcp_host_server_circuit_changes_total',
    help: 'Circuit breakers of MCP servers and of their tools that opened, tried again and closed',
    labelNames: ['server', 'to'],
    registers,
    collect() {
      circuits.reset()
      for (const [server, { circuits: changes }] of servers())
        for (const [to, count] of Object.entries(changes)) circuits.inc({ server, to }, count)
    },
  })
  const leftOut: Counter = new Counter({
    name: 'mcp_host_server_left_out_total',
    help: 'What MCP servers sent that was too much: notices, requests, messages, lines for the log',
    labelNames: ['server', 'what'],
    registers,
    collect() {
      leftOut.reset()
      for (const [server, { leftOut: counts }] of servers())
        for (const [what, count] of Object.entries(counts)) leftOut.inc({ server, what }, count)
    },
  })
  const instances: Counter = new Counter({
    name: 'mcp_host_server_instance_requests_total',
    help: 'Requests by the instance that was chosen, in the order of the configuration',
    labelNames: ['server', 'instance'],
    registers,
    collect() {
      instances.reset()
      for (const [server, { instances: counts }] of servers())
        for (const [index, count = 0] of counts.entries())
          instances.inc({ server, instance: index + 1 }, count)
    },
  })
}

/** A histogram whose values are counted elsewhere, which prom-client has no way to say. */
class ToolLatencies extends Histogram<Label> {
  readonly #options: HistogramConfiguration<Label>
  readonly #tools: () => Tool[]

  constructor(options: HistogramConfiguration<Label>, tools: () => Tool[]) {
    super(options)
    this.#options = options
    this.#tools = tools
  }

  /** Called by the registry, though the types do not declare it. */
  async getForPromString(): Promise<object> {
    const { name, help } = this.#options
    const values = this.#tools().flatMap(({ labels, calls: { latencyMs } }) => {
      const buckets = latencyMs.buckets.filter(({ leMs }) => BUCKETS_MS.has(leMs))
      const count = buckets.at(-1)?.count ?? 0
      const sum = (latencyMs.mean * count) / 1000
      return [
        ...buckets.map(({ leMs, count: value }) => {
          const le = leMs === Infinity ? '+Inf' : leMs / 1000
          return { metricName: `${name}_bucket`, labels: { ...labels, le }, value }
        }),
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }
}
