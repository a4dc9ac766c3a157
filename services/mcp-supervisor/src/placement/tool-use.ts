import type { ToolUse } from '@mcp-host/contracts'
import type { ServerMetrics } from 'mcp-host'

/** Published every few seconds in one message: no more than this. */
const MAX_TOOLS = 100

/** How the tools of one server were used, those used last first. Calls that were stopped are no failures. */
export function toolUse(
  metrics: Pick<ServerMetrics, 'tools'> | undefined,
  names: readonly string[],
): Record<string, ToolUse> {
  const used = names.flatMap((name): [string, ToolUse][] => {
    const { count, error, latencyMs, lastUsedAt } = metrics?.tools[name] ?? {}
    if (count === undefined || lastUsedAt === undefined) return []
    const averageMs = Math.round((latencyMs?.mean ?? 0) * 100) / 100
    return [[name, { calls: count, failures: error ?? 0, averageMs, lastUsedAt }]]
  })
  const latest = used.toSorted(([, one], [, other]) => other.lastUsedAt - one.lastUsedAt)
  return Object.fromEntries(latest.slice(0, MAX_TOOLS))
}
