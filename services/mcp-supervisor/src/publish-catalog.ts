import { setTimeout as delay } from 'node:timers/promises'
import type { Catalog } from '@mcp-host/bus'
import type { CatalogTool, ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import type { MCPHost, ServerSnapshot } from 'mcp-host'

const RETRY_MS = 500

/** Keeps the catalog as the host's servers are, until the signal. Outages of the broker only delay it. */
export async function publishCatalog(
  catalog: Catalog,
  host: MCPHost,
  {
    signal,
    warn,
    onPublished,
  }: {
    signal: AbortSignal
    warn: (error: unknown) => void
    onPublished: (entry: ServerEntry) => void
  },
): Promise<void> {
  for await (const snapshot of host.serverChanges({ signal })) {
    const entry = toEntry(snapshot)
    while (!signal.aborted) {
      try {
        await catalog.put(entry)
        onPublished(entry)
        break
      } catch (error) {
        warn(error)
        await delay(RETRY_MS)
      }
    }
  }
}

/** Forgets servers that are no longer configured. */
export async function removeStale(catalog: Catalog, configured: readonly string[]): Promise<void> {
  const { entries } = await catalog.watch()
  for (const entry of entries.values()) {
    if (entry.kind === 'server' && !configured.includes(entry.server)) await catalog.remove(entry)
  }
}

function toEntry({ name, state, error, tools }: ServerSnapshot): ServerEntry {
  return {
    kind: 'server',
    server: ServerName.parse(name),
    state,
    ...(error === undefined ? {} : { error: error.message }),
    tools: tools.map(toCatalogTool),
  }
}

function toCatalogTool(tool: ServerSnapshot['tools'][number]): CatalogTool {
  const { name, title, description, inputSchema, annotations = {} } = tool
  const { readOnlyHint, idempotentHint } = annotations
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    // It came as JSON from the server.
    inputSchema: inputSchema as CatalogTool['inputSchema'],
    annotations: { readOnlyHint: readOnlyHint === true, idempotentHint: idempotentHint === true },
  }
}
