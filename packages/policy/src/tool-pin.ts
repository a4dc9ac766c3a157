import { createHash } from 'node:crypto'
import type { CatalogTool } from '@mcp-host/contracts'
import { comparable, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'

/** The limit for stored definitions. Larger ones are compared only by their hash. */
const MAX_DEFINITION_LENGTH = 128 * 1024

/** The definition of a tool that was seen first, or that an admin has accepted later. */
export const ToolPin = z.object({
  server: z.string(),
  tool: z.string(),
  /** SHA-256 of the definition. */
  hash: z.string(),
  /**
   * The parts that count for the hash. Absent: those that a model reads; 2: also icons and pages of apps; 3: all that
   * the server lists but bookkeeping.
   */
  version: z.number().optional(),
  /** The definition as JSON; absent when it is too large. */
  definition: z.string().optional(),
  /** Epoch milliseconds. */
  pinnedAt: z.number(),
  /** Id of the admin who accepted a change; absent for the first definition. */
  acceptedBy: z.string().optional(),
})
export type ToolPin = z.infer<typeof ToolPin>

const VERSION = 3
/** Names in `_meta` of values that change with each release, or each start, of a server. */
const BOOKKEEPING = /^(?:.*[/._-])?(?:version|revision|etag|timestamp|\w+[_-]?at)$/i
/** Values that are no text that a model would follow. */
const SHORT = /^\S{0,64}$/

export const toolPins = defineBucket('TOOL_PINS', { record: ToolPin, what: 'pinned tools' })

/** The key of a tool in the bucket, in the characters that keys may have. Names that look the same have one key. */
export function pinKey(server: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, comparable(tool)]))
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
 * version, in which changes of more parts show.
 */
export function comparePin(pin: ToolPin, tool: CatalogTool): 'same' | 'outdated' | 'changed' {
  const { version = 1 } = pin
  if (version >= VERSION) return pin.hash === definitionHash(tool) ? 'same' : 'changed'
  const parts = version === 1 ? modelParts(tool) : shownParts(tool)
  return pin.hash === hashOf(sortedJson(parts)) ? 'outdated' : 'changed'
}

/** The hash of all that a server lists of a tool but bookkeeping. The order of names does not matter. */
export function definitionHash(tool: CatalogTool): string {
  const known = hashes.get(tool)
  if (known !== undefined) return known
  const hash = hashOf(definitionOf(tool))
  hashes.set(tool, hash)
  return hash
}

/** JSON with sorted names. */
export function definitionOf(tool: CatalogTool): string {
  const { _meta, ...parts } = tool
  const meta = Object.entries(isObject(_meta) ? _meta : {}).filter(
    ([key, value]) => !(BOOKKEEPING.test(key) && SHORT.test(String(value))),
  )
  return sortedJson({ ...parts, ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) })
}

function shownParts(tool: CatalogTool): object {
  const { icons, _meta } = tool
  const pages = Object.entries(isObject(_meta) ? _meta : {}).filter(([key]) =>
    /^ui(\/|$)/.test(key),
  )
  const meta = pages.length === 0 ? {} : { _meta: Object.fromEntries(pages) }
  return { ...modelParts(tool), icons, ...meta }
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
