import { createHash } from 'node:crypto'
import type { CatalogTool } from '@mcp-host/contracts'
import { defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'

/** The limit for stored definitions. Larger ones are compared only by their hash. */
const MAX_DEFINITION_LENGTH = 128 * 1024

/** The definition of a tool that was seen first, or that an admin has accepted later. */
export const ToolPin = z.object({
  server: z.string(),
  tool: z.string(),
  /** SHA-256 of the definition. */
  hash: z.string(),
  /** The definition as JSON; absent when it is too large. */
  definition: z.string().optional(),
  /** Epoch milliseconds. */
  pinnedAt: z.number(),
  /** Id of the admin who accepted a change; absent for the first definition. */
  acceptedBy: z.string().optional(),
})
export type ToolPin = z.infer<typeof ToolPin>

export const toolPins = defineBucket('TOOL_PINS', { record: ToolPin, what: 'pinned tools' })

/** The key of a tool in the bucket, in the characters that keys may have. */
export function pinKey(server: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
}

/** A record of a definition. */
export function pinOf(server: string, tool: CatalogTool, acceptedBy?: string): ToolPin {
  const definition = definitionOf(tool)
  return {
    server,
    tool: tool.name,
    hash: definitionHash(tool),
    ...(definition.length > MAX_DEFINITION_LENGTH ? {} : { definition }),
    pinnedAt: Date.now(),
    ...(acceptedBy === undefined ? {} : { acceptedBy }),
  }
}

const hashes = new WeakMap<CatalogTool, string>()

/** The hash of the parts of a tool that a model reads. The order of names in schemas does not matter. */
export function definitionHash(tool: CatalogTool): string {
  const known = hashes.get(tool)
  if (known !== undefined) return known
  const hash = createHash('sha256').update(definitionOf(tool)).digest('hex')
  hashes.set(tool, hash)
  return hash
}

/** JSON with sorted names. */
export function definitionOf(tool: CatalogTool): string {
  const { name, title, description, inputSchema, annotations } = tool
  const { outputSchema } = tool
  const about = { name, title, description, inputSchema, outputSchema, annotations }
  return JSON.stringify(about, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : value,
  )
}
