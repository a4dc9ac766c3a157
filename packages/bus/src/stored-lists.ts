import type { ServerEntry } from '@mcp-host/contracts'
import { BusError, ServerLists } from '@mcp-host/contracts'
import type { Blobs } from './bus.ts'
import { decode } from './codec.ts'

/** The size of an entry as JSON; the broker takes no message above 1 MiB. */
const MAX_INLINE_BYTES = 900 * 1024
/** The size of the lists as JSON: as much as one message of a server. */
const MAX_LISTS_BYTES = 64 * 1024 * 1024

/**
 * The entry itself where it fits into a message, else the entry without its lists, which are stored. Throws `invalid`
 * when the lists are too large to be stored, else as `Blobs.put`.
 */
export async function storeLists(
  blobs: Pick<Blobs, 'put'>,
  entry: ServerEntry,
): Promise<ServerEntry> {
  const { capabilities, instructions, tools, prompts, resources, resourceTemplates, ...rest } =
    entry
  const lists = { capabilities, instructions, tools, prompts, resources, resourceTemplates }
  const bytes = jsonOf(lists)
  // The rest is small; an entry whose lists are large is not to be written twice only to be measured.
  if (bytes.length + jsonOf(rest).length <= MAX_INLINE_BYTES) return entry
  if (bytes.length > MAX_LISTS_BYTES) {
    const message = `the lists of the MCP server "${entry.server}" have ${bytes.length} bytes, more than the ${MAX_LISTS_BYTES} that can be kept; let it list less, such as fewer tools by "tools": { "allow": […] }`
    throw new BusError('invalid', message)
  }
  return { ...rest, tools: [], stored: await blobs.put(bytes) }
}

/** The entry with its lists, wherever these are. Throws as `Blobs.get`. */
export async function readLists(
  blobs: Pick<Blobs, 'get'>,
  entry: ServerEntry,
): Promise<ServerEntry> {
  if (entry.stored === undefined) return entry
  const bytes = await blobs.get(entry.stored.key)
  return { ...entry, ...decode(ServerLists, bytes, `lists of ${entry.server}`) }
}

function jsonOf(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
