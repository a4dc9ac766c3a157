import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ServerEntry } from '@mcp-host/contracts'
import { BusError, ServerLists } from '@mcp-host/contracts'
import type { Blobs } from './bus.ts'
import { decode } from './codec.ts'

/** Limit for an entry as JSON, since the broker accepts no message above 1 MiB. */
const MAX_INLINE_BYTES = 900 * 1024
/** Limit for the lists as JSON, the same as for one message of a server. */
const MAX_LISTS_BYTES = 64 * 1024 * 1024
/** The number of bytes that are written or read between two yields to the event loop. */
const SLICE_BYTES = 64 * 1024
const NEWLINE = 10
const SomeLists = ServerLists.partial()

/**
 * Prepares an entry for the catalog. An entry that fits into a message is returned unchanged. Otherwise its lists are
 * stored as a blob of JSON lines: the first line has everything but the items, each further line has some items of one
 * list. Throws `invalid` when the lists are too large, and errors of `Blobs.put`.
 */
export async function storeLists(
  blobs: Pick<Blobs, 'put'>,
  entry: ServerEntry,
): Promise<ServerEntry> {
  const { capabilities, instructions, tools, prompts, resources, resourceTemplates, ...rest } =
    entry
  const lists = { capabilities, instructions, tools, prompts, resources, resourceTemplates }
  const bytes = await toLines(lists)
  // The two parts are measured separately, so that large lists are serialised only once.
  if (bytes.length + Buffer.byteLength(JSON.stringify(rest)) <= MAX_INLINE_BYTES) return entry
  if (bytes.length > MAX_LISTS_BYTES) {
    const message = `the lists of the MCP server "${entry.server}" have ${bytes.length} bytes, more than the ${MAX_LISTS_BYTES} that can be kept; let it list less, such as fewer tools by "tools": { "allow": […] }`
    throw new BusError('invalid', message)
  }
  return { ...rest, tools: [], stored: await blobs.put(bytes) }
}

/** The entry with its lists, which may be stored as a blob. Throws errors of `Blobs.get`. */
export async function readLists(
  blobs: Pick<Blobs, 'get'>,
  entry: ServerEntry,
): Promise<ServerEntry> {
  if (entry.stored === undefined) return entry
  const bytes = await blobs.get(entry.stored.key, entry.stored)
  const what = `lists of ${entry.server}`
  const end = lineEnd(bytes, 0)
  const lists = decode(ServerLists, bytes.subarray(0, end), what)
  for (let start = end + 1; start < bytes.length;) {
    await nextTurn()
    const next = lineEnd(bytes, start)
    const more = decode(SomeLists, bytes.subarray(start, next), what)
    // The first line has every list that has items.
    lists.tools.push(...(more.tools ?? []))
    lists.prompts?.push(...(more.prompts ?? []))
    lists.resources?.push(...(more.resources ?? []))
    lists.resourceTemplates?.push(...(more.resourceTemplates ?? []))
    start = next + 1
  }
  return { ...entry, ...lists }
}

async function toLines({ capabilities, instructions, ...lists }: ServerLists): Promise<Buffer> {
  const named = Object.entries(lists).filter(([, items]) => items !== undefined)
  const empty = Object.fromEntries(named.map(([name]) => [name, []]))
  const lines = [Buffer.from(JSON.stringify({ capabilities, instructions, ...empty }))]
  for (const [name, all] of named) {
    let items: string[] = []
    let length = 0
    const endLine = async (): Promise<void> => {
      lines.push(Buffer.from(`\n{"${name}":[${items.join(',')}]}`))
      ;[items, length] = [[], 0]
      await nextTurn()
    }
    for (const item of all ?? []) {
      const text = JSON.stringify(item)
      items.push(text)
      length += text.length
      if (length >= SLICE_BYTES) await endLine()
    }
    if (items.length > 0) await endLine()
  }
  return Buffer.concat(lines)
}

function lineEnd(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(NEWLINE, start)
  return end === -1 ? bytes.length : end
}
