import { CallMeter, type CallMetrics } from './call-meter.ts'

export interface ServerMetrics {
  /** All calls of the server. */
  readonly calls: CallMetrics
  /** By the tool's own name, without the server's. */
  readonly tools: Readonly<Record<string, CallMetrics>>
}

export interface HostMetrics {
  readonly servers: Readonly<Record<string, ServerMetrics>>
}

/** A server that keeps renaming its tools must not fill the memory: later tools count for it alone. */
const MAX_TOOLS = 1_000

/** Counts the calls of all servers and their tools. Report known tools only. */
export class MetricsRegistry {
  readonly #servers = new Map<string, { calls: CallMeter; tools: Map<string, CallMeter> }>()

  /** To be looked up once and kept, until the server is forgotten: counting then costs next to nothing. */
  meter(server: string, tool: string): CallMeter {
    let entry = this.#servers.get(server)
    if (entry === undefined) {
      entry = { calls: new CallMeter(), tools: new Map() }
      this.#servers.set(server, entry)
    }
    const known = entry.tools.get(tool)
    if (known !== undefined) return known
    if (entry.tools.size >= MAX_TOOLS) return entry.calls
    const meter = new CallMeter(entry.calls)
    entry.tools.set(tool, meter)
    return meter
  }

  /** For a server that left the configuration. Meters still held count on, for nobody. */
  forget(server: string): void {
    this.#servers.delete(server)
  }

  snapshot(): HostMetrics {
    const servers = Array.from(this.#servers, ([name, { calls, tools }]) => {
      const perTool = Array.from(tools, ([tool, meter]) => [tool, meter.snapshot()] as const)
      return [name, { calls: calls.snapshot(), tools: Object.fromEntries(perTool) }] as const
    })
    return { servers: Object.fromEntries(servers) }
  }
}
