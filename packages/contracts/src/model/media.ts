import { z } from 'zod'
import { BlobReference } from './blob-reference.ts'

/** Of which nothing else is known. */
export const UNKNOWN_TYPE = 'application/octet-stream'

/** A type without parameters, in small letters; `UNKNOWN_TYPE` for what is none. */
export function cleanType(given: unknown): string {
  const [type = ''] = typeof given === 'string' ? given.toLowerCase().split(';') : []
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type.trim()) ? type.trim() : UNKNOWN_TYPE
}

const TEXT = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|sql)$|\+(json|xml|yaml)$/

/** Whether a file is text, which any model can read as part of what is said. */
export function isText(mimeType: string): boolean {
  return TEXT.test(mimeType)
}

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
