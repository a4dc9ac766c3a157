import { z } from 'zod'
import { ServerName } from '../ids.ts'

export const CatalogTool = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.json()),
  annotations: z
    .object({ readOnlyHint: z.boolean().optional(), idempotentHint: z.boolean().optional() })
    .optional(),
})
export type CatalogTool = z.infer<typeof CatalogTool>

/** An MCP server as everyone else sees it. Written by its supervisor, watched by the rest. */
export const ServerEntry = z.object({
  kind: z.literal('server'),
  server: ServerName,
  state: z.enum(['starting', 'ready', 'unavailable', 'stopping', 'shutdown']),
  /** Why it is not ready, in words for a user. */
  error: z.string().optional(),
  tools: z.array(CatalogTool),
})
export type ServerEntry = z.infer<typeof ServerEntry>

/** The model that answers when a session names none. Written by the workers. */
export const ModelEntry = z.object({
  kind: z.literal('model'),
  provider: z.string(),
  model: z.string(),
  /** Something the user should know about it, such as that it is only a demonstration. */
  notice: z.string().optional(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

/** One value of the catalog, the key-value bucket that says what the host can do right now. */
export const CatalogEntry = z.discriminatedUnion('kind', [ServerEntry, ModelEntry])
export type CatalogEntry = z.infer<typeof CatalogEntry>

export function catalogKey(entry: CatalogEntry): string {
  return entry.kind === 'server' ? `server.${entry.server}` : 'model.default'
}
