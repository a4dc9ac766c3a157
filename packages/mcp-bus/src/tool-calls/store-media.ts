import type { ToolFinished } from '@mcp-host/contracts'
import { mediaOf } from '@mcp-host/contracts'

type Block = ToolFinished['content'][number]

/** Stores bytes. Resolves with their reference, or with nothing when they could not be stored. */
export type Store = (bytes: Uint8Array, mimeType: string) => Promise<ToolFinished['blob']>

/** The size from which media are stored, in base64 characters. */
const MIN_LENGTH = 8 * 1024

/** Moves the bytes of images, audio and files of a result to the object store. */
export async function storeMedia(content: readonly Block[], store: Store): Promise<Block[]> {
  return Promise.all(content.map((block) => storeBlock(block, store)))
}

/** Removes storage keys that a server sent, since only this host sets them. */
export function withoutStored(content: readonly Block[]): Block[] {
  return content.map((block) => {
    const { resource } = block as { resource?: unknown }
    const isEmbedded = typeof resource === 'object' && resource !== null
    const rest = without(block, 'stored')
    return isEmbedded ? { ...rest, resource: without(resource, 'stored') } : rest
  })
}

async function storeBlock(block: Block, store: Store): Promise<Block> {
  const { mimeType = '', data = '' } = mediaOf(block) ?? {}
  if (data.length < MIN_LENGTH) return block
  const stored = await store(Buffer.from(data, 'base64'), mimeType)
  if (stored === undefined) return block
  const { type, resource } = block as Block & { resource?: { uri?: unknown } }
  if (resource === undefined) return { type, mimeType, stored }
  return { type, resource: { uri: resource.uri, mimeType, stored } }
}

function without<T extends object>(given: T, name: string): T {
  if (!Object.hasOwn(given, name)) return given
  return Object.fromEntries(Object.entries(given).filter(([key]) => key !== name)) as T
}
