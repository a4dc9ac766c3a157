import type { CallMetrics, CallOutcome, MetricsRegistry, ServerMetrics } from '@mcp-host/upstream'
import type { Samples } from '@mcp-host/service'
import { exposeSamples } from '@mcp-host/service'
import type { HistogramConfiguration, Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'

type Label = 'server' | 'tool'
interface Tool {
  readonly labels: Readonly<Record<Label, string>>
  readonly calls: CallMetrics
}

/** Reads samples of each server. */
type EachServer = (
  read: (counters: ServerMetrics['counters'], server: string) => Samples,
) => () => Samples

const OUTCOMES: readonly CallOutcome[] = ['success', 'error', 'cancelled', 'refused']
/** The finite buckets of the library that are exported per tool, in milliseconds. */
const BUCKETS_MS = new Set([1, 4.7, 22, 100, 470, 1000, 4700, 15_000, 68_000])

/**
 * Exposes the library's metrics of servers and tools. The library limits the labels to 1,000 known tools of a server.
 */
export function exposeToolMetrics(registry: Registry, source: MetricsRegistry): void {
  const servers = (): [server: string, metrics: ServerMetrics][] =>
    Object.entries(source.snapshot().servers)
  const tools = (): Tool[] =>
    servers().flatMap(([server, metrics]) =>
      Object.entries(metrics.tools).map(([tool, calls]) => ({ labels: { server, tool }, calls })),
    )
  const eachServer: EachServer = (read) => () =>
    servers().flatMap(([server, { counters }]) => read(counters, server))
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_requests_total',
    help: 'Requests to MCP servers by tool, or by method where it is no tool, and how they ended',
    labelNames: ['server', 'tool', 'outcome'],
    read: () =>
      tools().flatMap(({ labels, calls }) =>
        OUTCOMES.map((outcome) => [{ ...labels, outcome }, calls[outcome]]),
      ),
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_server_requests_in_flight',
    help: 'Requests to MCP servers that have begun and not ended',
    labelNames: ['server', 'tool'],
    read: () => tools().map(({ labels, calls }) => [labels, calls.inFlight]),
  })
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_retries_total',
    help: 'Requests to MCP servers that were sent once more',
    labelNames: ['server'],
    read: eachServer(({ retries }, server) => [[{ server }, retries]]),
  })
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_circuit_changes_total',
    help: 'Circuit breakers of MCP servers and of their tools that opened, tried again and closed',
    labelNames: ['server', 'to'],
    read: eachServer(({ circuits }, server) =>
      Object.entries(circuits).map(([to, count]) => [{ server, to }, count]),
    ),
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_server_circuits',
    help: 'Circuit breakers of MCP servers and of their tools that are open or half-open now',
    labelNames: ['server', 'state'],
    read: () =>
      servers().flatMap(([server, { circuits }]) =>
        Object.entries(circuits).map(([state, count]): Samples[number] => [
          { server, state },
          count,
        ]),
      ),
  })
  exposeTokens(registry, eachServer)
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_left_out_total',
    help: 'Notices, requests, messages and log lines of MCP servers that exceeded a limit',
    labelNames: ['server', 'what'],
    read: eachServer(({ leftOut }, server) =>
      Object.entries(leftOut).map(([what, count]) => [{ server, what }, count]),
    ),
  })
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_instance_requests_total',
    help: 'Requests by the instance that was chosen, in the order of the configuration',
    labelNames: ['server', 'instance'],
    read: eachServer(({ instances }, server) =>
      // Instances without requests may be holes of the array.
      Array.from(instances, (count: number | undefined, index) => [
        { server, instance: index + 1 },
        count ?? 0,
      ]),
    ),
  })
  exposeLatencies(registry, tools)
}

function exposeTokens(registry: Registry, eachServer: EachServer): void {
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_token_requests_total',
    help: 'Tokens that connections to MCP servers asked for, by the type of their auth: ok, needed (a user has to log in), failed',
    labelNames: ['server', 'strategy', 'outcome'],
    read: eachServer(({ tokens }, server) =>
      Object.entries(tokens).flatMap(([strategy, counts]) =>
        Object.entries(counts).map(([outcome, count]): Samples[number] => [
          { server, strategy, outcome },
          count,
        ]),
      ),
    ),
  })
}

/** Registers a histogram with the buckets of the library, for which prom-client has no option. */
function exposeLatencies(registry: Registry, tools: () => Tool[]): void {
  const about: HistogramConfiguration<Label> = {
    name: 'mcp_host_server_request_seconds',
    help: 'How long requests to MCP servers took that ended with success or an error',
    labelNames: ['server', 'tool'],
  }
  const { name, help } = about
  const histogram = new Histogram({ ...about, registers: [registry] })
  // Called by the registry, though the types do not declare it.
  const getForPromString = async (): Promise<object> => {
    const values = tools().flatMap(({ labels, calls: { latencyMs } }) => {
      const buckets = latencyMs.buckets.filter(
        ({ leMs }) => leMs === Infinity || BUCKETS_MS.has(leMs),
      )
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
  Object.assign(histogram, { getForPromString })
}
