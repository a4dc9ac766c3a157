import { z } from 'zod'
import { cleanType, Media } from '../model/media.ts'
import type { ToolFinished } from '../session/tool-fact.ts'
import { BlobReference } from '../model/blob-reference.ts'

const Bytes = z.object({
  mimeType: z.unknown().optional().transform(cleanType),
  stored: BlobReference.optional(),
})
const Shown = Bytes.extend({ type: z.enum(['image', 'audio']), data: z.string().optional() })
const Embedded = z.object({
  type: z.literal('resource'),
  resource: Bytes.extend({ uri: z.string().optional(), blob: z.string().optional() }),
})

/**
 * Media of an MCP content block; `undefined` for text alone. `stored` replaces bytes that were moved to the object
 * store.
 */
export function mediaOf(block: ToolFinished['content'][number]): Media | undefined {
  const shown = Shown.safeParse(block)
  if (shown.success) return media(shown.data, shown.data.data)
  const embedded = Embedded.safeParse(block)
  if (!embedded.success) return undefined
  const { resource } = embedded.data
  const name = resource.uri?.split('/').at(-1)
  return media({ ...resource, ...(name === undefined ? {} : { name }) }, resource.blob)
}

function media(
  { mimeType, name, stored }: z.infer<typeof Bytes> & { name?: string },
  data: string | undefined,
): Media | undefined {
  if (data === undefined && stored === undefined) return undefined
  return Media.parse({ mimeType, name, data, blob: stored })
}
