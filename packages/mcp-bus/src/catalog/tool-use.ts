import type { ServerStats, ToolUse } from '@mcp-host/contracts'
import { ownValue } from '@mcp-host/contracts'
import type { ServerMetrics } from '@mcp-host/upstream'

/** The limit of tools of each server: one message has the statistics of all servers. */
const MAX_TOOLS = 100

/** Adds the use of tools to the statistics of their servers. */
export function withToolUse(
  stats: Readonly<Record<string, ServerStats>>,
  { servers }: { readonly servers: Readonly<Record<string, Pick<ServerMetrics, 'tools'>>> },
): Record<string, ServerStats> {
  const entries = Object.entries(stats).map(([server, figures]): [string, ServerStats] => {
    const used = lastUsed(ownValue(servers, server)?.tools ?? {})
    return [server, used.length === 0 ? figures : { ...figures, toolUse: Object.fromEntries(used) }]
  })
  return Object.fromEntries(entries)
}

/** The last used tools, the latest first. Cancelled calls are no failures. */
function lastUsed(tools: ServerMetrics['tools']): [name: string, use: ToolUse][] {
  const used = Object.entries(tools).flatMap(([name, metrics]): [string, ToolUse][] => {
    const { count: calls, error: failures, latencyMs, lastUsedAt } = metrics
    // Names with a slash are methods of other requests.
    if (lastUsedAt === undefined || name.includes('/')) return []
    const averageMs = Math.round(latencyMs.mean * 100) / 100
    return [[name, { calls, failures, averageMs, lastUsedAt }]]
  })
  return used
    .toSorted(([, one], [, other]) => other.lastUsedAt - one.lastUsedAt)
    .slice(0, MAX_TOOLS)
}
