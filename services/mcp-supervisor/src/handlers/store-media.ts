import type { ToolFinished } from '@mcp-host/contracts'
import { mediaOf } from '@mcp-host/contracts'

type Block = ToolFinished['content'][number]

/** Answers where it is, or nothing when it could not be stored. */
export type Store = (bytes: Uint8Array, mimeType: string) => Promise<ToolFinished['blob']>

/** The same content, with the bytes of pictures, sounds and files in the object store. */
export async function storeMedia(content: readonly Block[], store: Store): Promise<Block[]> {
  return Promise.all(content.map((block) => storeBlock(block, store)))
}

async function storeBlock(block: Block, store: Store): Promise<Block> {
  const { mimeType = '', data } = mediaOf(block) ?? {}
  if (data === undefined) return block
  const stored = await store(Buffer.from(data, 'base64'), mimeType)
  if (stored === undefined) return block
  const { resource } = block as { resource?: Record<string, unknown> }
  if (resource === undefined) return { ...without(block, 'data'), stored }
  return { ...block, resource: { ...without(resource, 'blob'), stored } }
}

function without<T extends object>(given: T, name: string): T {
  return Object.fromEntries(Object.entries(given).filter(([key]) => key !== name)) as T
}
