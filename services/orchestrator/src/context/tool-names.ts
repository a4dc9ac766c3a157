import type { CatalogTool, OfferedTool, ServerView } from '@mcp-host/contracts'

const MAX_LENGTH = 64

/** FNV-1a, as six letters and digits. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(36).padStart(6, '0').slice(-6)
}

/**
 * `server__tool`, made to match `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`, which every provider accepts. Where that
 * changes or shortens the name, or it is taken already, a hash keeps it unique.
 */
function safeName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `${server}__${tool}`
  const clean = plain.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
  if (clean === plain && clean.length <= MAX_LENGTH && !taken.has(clean)) return clean
  // More than once when a server names a tool as another's name was made.
  for (let salt = 0; ; salt++) {
    const hash = shortHash(JSON.stringify(salt === 0 ? [server, tool] : [server, tool, salt]))
    const hashed = `${clean.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`
    if (!taken.has(hashed)) return hashed
  }
}

/** Whether a tool is for the user interface of an MCP app alone, and not for models. */
function isForAppsOnly({ _meta: meta }: CatalogTool): boolean {
  const { ui } = (meta ?? {}) as { ui?: { visibility?: unknown } }
  const visibility = ui?.visibility
  return Array.isArray(visibility) && visibility.length > 0 && !visibility.includes('model')
}

/** The tools of all ready servers, as they are offered to a model; in a fixed order. */
export function offeredTools(
  views: readonly Pick<ServerView, 'server' | 'state' | 'tools'>[],
): OfferedTool[] {
  const servers = views
    .filter(({ state }) => state === 'ready')
    .toSorted((one, other) => (one.server < other.server ? -1 : 1))
  const taken = new Set<string>()
  return servers.flatMap(({ server, tools }) =>
    tools.flatMap((tool) => {
      if (isForAppsOnly(tool)) return []
      const { name, description, inputSchema } = tool
      const safe = safeName(server, name, taken)
      taken.add(safe)
      return {
        safeName: safe,
        server,
        tool: name,
        ...(description === undefined ? {} : { description }),
        inputSchema,
      }
    }),
  )
}
