import type { ServerStats, ToolUse } from '@mcp-host/contracts'
import { ownValue } from '@mcp-host/contracts'
import type { ServerMetrics } from 'mcp-host'

/** The figures of all servers are published every few seconds in one message: no more tools of each. */
const MAX_TOOLS = 100

/** Adds to the figures of each server how its tools were used. */
export function withToolUse(
  stats: Readonly<Record<string, ServerStats>>,
  { servers }: { readonly servers: Readonly<Record<string, Pick<ServerMetrics, 'tools'>>> },
): Record<string, ServerStats> {
  const entries = Object.entries(stats).map(([server, figures]): [string, ServerStats] => {
    const toolUse = usedTools(ownValue(servers, server)?.tools ?? {})
    return [
      server,
      toolUse.length === 0 ? figures : { ...figures, toolUse: Object.fromEntries(toolUse) },
    ]
  })
  return Object.fromEntries(entries)
}

/** The tools used last, the latest first. Calls that were stopped are no failures. */
function usedTools(tools: ServerMetrics['tools']): [name: string, use: ToolUse][] {
  const used = Object.entries(tools).flatMap(([name, metrics]): [string, ToolUse][] => {
    const { count: calls, error: failures, latencyMs, lastUsedAt } = metrics
    // Other requests are counted by their methods.
    if (lastUsedAt === undefined || name.includes('/')) return []
    const averageMs = Math.round(latencyMs.mean * 100) / 100
    return [[name, { calls, failures, averageMs, lastUsedAt }]]
  })
  return used
    .toSorted(([, one], [, other]) => other.lastUsedAt - one.lastUsedAt)
    .slice(0, MAX_TOOLS)
}
