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
  /** Absent: the hash is that of the parts that a model reads, without those that a user sees. */
  version: z.number().optional(),
  /** The definition as JSON; absent when it is too large. */
  definition: z.string().optional(),
  /** Epoch milliseconds. */
  pinnedAt: z.number(),
  /** Id of the admin who accepted a change; absent for the first definition. */
  acceptedBy: z.string().optional(),
})
export type ToolPin = z.infer<typeof ToolPin>

const VERSION = 2

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
    version: VERSION,
    ...(definition.length > MAX_DEFINITION_LENGTH ? {} : { definition }),
    pinnedAt: Date.now(),
    ...(acceptedBy === undefined ? {} : { acceptedBy }),
  }
}

const hashes = new WeakMap<CatalogTool, string>()

/**
 * Whether the definition of a tool is the pinned one. `outdated`: it is, and the pin has to be replaced by one of this
 * version, in which a change of an icon or a page would show.
 */
export function comparePin(pin: ToolPin, tool: CatalogTool): 'same' | 'outdated' | 'changed' {
  if (pin.version !== undefined) return pin.hash === definitionHash(tool) ? 'same' : 'changed'
  return pin.hash === hashOf(sortedJson(modelParts(tool))) ? 'outdated' : 'changed'
}

/** The hash of the parts of a tool that a model reads or a user sees. The order of names in schemas does not matter. */
export function definitionHash(tool: CatalogTool): string {
  const known = hashes.get(tool)
  if (known !== undefined) return known
  const hash = hashOf(definitionOf(tool))
  hashes.set(tool, hash)
  return hash
}

/** JSON with sorted names. */
export function definitionOf(tool: CatalogTool): string {
  const { icons, _meta } = tool
  const pages = Object.entries(isObject(_meta) ? _meta : {}).filter(([key]) =>
    /^ui(\/|$)/.test(key),
  )
  const meta = pages.length === 0 ? {} : { _meta: Object.fromEntries(pages) }
  return sortedJson({ ...modelParts(tool), icons, ...meta })
}

function modelParts(tool: CatalogTool): object {
  const { name, title, description, inputSchema, annotations } = tool
  const { outputSchema } = tool
  return { name, title, description, inputSchema, outputSchema, annotations }
}

function hashOf(json: string): string {
  return createHash('sha256').update(json).digest('hex')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sortedJson(about: object): string {
  return JSON.stringify(about, (_, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : value,
  )
}
