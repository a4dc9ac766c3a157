import { z } from 'zod'
import { BlobReference } from '../session/tool-fact.ts'

/** A picture, a document or the like. */
const about = {
  /** Such as `image/png`. */
  mimeType: z.string(),
  /** Of the file. */
  name: z.string().optional(),
}

/** What a user sent along with a message. */
export const Attachment = z.object({ ...about, blob: BlobReference })
export type Attachment = z.infer<typeof Attachment>

/** Something beside the text that a model is to see, hear or read. */
export const Media = z.object({
  ...about,
  /** Itself, in base64. */
  data: z.string().optional(),
  /** Where it is kept, when it does not stand here. */
  blob: BlobReference.optional(),
})
export type Media = z.infer<typeof Media>
