import type { CircuitState } from '../policies/circuit-breaker.ts'
import { CallMeter, type CallMetrics } from './call-meter.ts'

/** Dropped messages of one server; see `docs/reference/limits.md`. */
export interface LeftOut {
  /** Notifications. */
  notices: number
  /** Requests of the server, and unexpected responses. */
  requests: number
  /** Messages that were too large or had too many values. */
  messages: number
  /** Log lines. */
  lines: number
}

/** How a request for a token ended. `needed`: a user has to log in first. */
export type TokenOutcome = 'ok' | 'needed' | 'failed'

/** Counts events around the calls of one server. */
export interface ServerCounters {
  readonly leftOut: LeftOut
  /** Retried requests. */
  retries: number
  /** Tokens that its connections asked for, by the type of its `auth`. */
  readonly tokens: Record<string, Record<TokenOutcome, number>>
  /** Changes of circuit breakers, of the server or of its tools, by new state. */
  readonly circuits: Record<CircuitState, number>
  /** The number of requests to each of the `instances`, in their order. */
  readonly instances: number[]
}

/** Circuit breakers that refuse calls now, or let one probe the server. */
export type BrokenCircuits = Record<Exclude<CircuitState, 'closed'>, number>

export interface ServerMetrics {
  readonly counters: Readonly<ServerCounters>
  /** Circuit breakers of the server and of its tools, at this moment. */
  readonly circuits: Readonly<BrokenCircuits>
  /** All calls of the server. */
  readonly calls: CallMetrics
  /** The calls by the tool's name at its server. */
  readonly tools: Readonly<Record<string, CallMetrics>>
}

export interface HostMetrics {
  readonly servers: Readonly<Record<string, ServerMetrics>>
}

/**
 * Limit for the tools of a server. Further tools count only for their server, since a server that renames its tools
 * could fill the memory.
 */
const MAX_TOOLS = 1_000

interface Entry {
  readonly calls: CallMeter
  readonly tools: Map<string, CallMeter>
  readonly counters: ServerCounters
  /** Those that existed at some time. A server that changes gets others. */
  breakers: WeakRef<{ readonly circuits: BrokenCircuits }>[]
}

/** Counts the calls of all servers and their tools. Report known tools only. */
export class MetricsRegistry {
  readonly #servers = new Map<string, Entry>()

  /** The meter of a tool. It may be stored until `forget`, so that a call needs no lookup. */
  meter(server: string, tool: string): CallMeter {
    const entry = this.#entry(server)
    const known = entry.tools.get(tool)
    if (known !== undefined) return known
    if (entry.tools.size >= MAX_TOOLS) return entry.calls
    const meter = new CallMeter(entry.calls)
    entry.tools.set(tool, meter)
    return meter
  }

  /** Counters to be changed in place. */
  counters(server: string): ServerCounters {
    return this.#entry(server).counters
  }

  /** Adds circuit breakers of a server, which are counted as long as they exist. */
  addCircuits(server: string, breakers: { readonly circuits: BrokenCircuits }): void {
    this.#entry(server).breakers.push(new WeakRef(breakers))
  }

  /** Drops a server that left the configuration. Its stored meters then have no effect. */
  forget(server: string): void {
    this.#servers.delete(server)
  }

  snapshot(): HostMetrics {
    const servers = Array.from(this.#servers, ([name, entry]) => {
      const { calls, tools, counters } = entry
      const perTool = Array.from(tools, ([tool, meter]) => [tool, meter.snapshot()] as const)
      const metrics: ServerMetrics = {
        calls: calls.snapshot(),
        tools: Object.fromEntries(perTool),
        counters: structuredClone(counters),
        circuits: circuitsOf(entry),
      }
      return [name, metrics] as const
    })
    return { servers: Object.fromEntries(servers) }
  }

  #entry(server: string): Entry {
    const known = this.#servers.get(server)
    if (known !== undefined) return known
    const circuits = { closed: 0, open: 0, 'half-open': 0 }
    const leftOut = { notices: 0, requests: 0, messages: 0, lines: 0 }
    const counters = { leftOut, retries: 0, tokens: {}, circuits, instances: [] }
    const entry: Entry = { calls: new CallMeter(), tools: new Map(), counters, breakers: [] }
    this.#servers.set(server, entry)
    return entry
  }
}

/** Also drops breakers that do not exist any more. */
function circuitsOf(entry: Entry): BrokenCircuits {
  entry.breakers = entry.breakers.filter((each) => each.deref() !== undefined)
  const sum = { open: 0, 'half-open': 0 }
  for (const each of entry.breakers) {
    const { open = 0, 'half-open': halfOpen = 0 } = each.deref()?.circuits ?? {}
    sum.open += open
    sum['half-open'] += halfOpen
  }
  return sum
}
