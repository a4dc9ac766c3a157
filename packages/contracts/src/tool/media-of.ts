import { z } from 'zod'
import { BlobReference, cleanType, Media } from '../model/media.ts'
import type { ToolFinished } from '../session/tool-fact.ts'

const Bytes = z.object({
  mimeType: z.unknown().optional().transform(cleanType),
  stored: BlobReference.optional(),
})
const Direct = Bytes.extend({ type: z.enum(['image', 'audio']), data: z.string().optional() })
const Embedded = z.object({
  type: z.literal('resource'),
  resource: Bytes.extend({ uri: z.string().optional(), blob: z.string().optional() }),
})

/** The media of an MCP content block; `undefined` for text. `stored` replaces bytes that are in the object store. */
export function mediaOf(block: ToolFinished['content'][number]): Media | undefined {
  const direct = Direct.safeParse(block)
  if (direct.success) return media(direct.data, direct.data.data)
  const embedded = Embedded.safeParse(block)
  if (!embedded.success) return undefined
  const { resource } = embedded.data
  return media(resource, resource.blob, resource.uri?.split('/').at(-1))
}

function media(
  { mimeType, stored }: z.infer<typeof Bytes>,
  data: string | undefined,
  name?: string,
): Media | undefined {
  if (data === undefined && stored === undefined) return undefined
  return Media.parse({ mimeType, name, data, blob: stored })
}
