import type { OfferedTool, ServerView } from '@mcp-host/contracts'
import { isForAppsOnly, safeToolNames } from '@mcp-host/mcp'

/** The tools of all ready servers in the form that models are offered, in a fixed order. */
export function offeredTools(
  views: readonly Pick<ServerView, 'server' | 'state' | 'tools'>[],
): OfferedTool[] {
  const offered = views
    .filter(({ state }) => state === 'ready')
    .toSorted((one, other) => (one.server < other.server ? -1 : 1))
    .flatMap(({ server, tools }) =>
      tools.flatMap((tool) => {
        if (isForAppsOnly(tool)) return []
        const { name, description, inputSchema } = tool
        return {
          server,
          tool: name,
          ...(description === undefined ? {} : { description }),
          inputSchema,
        }
      }),
    )
  return Array.from(safeToolNames(offered), ([safeName, tool]) => ({ safeName, ...tool }))
}
