import { z } from 'zod'

/** An object of the object store. */
export const BlobReference = z.object({
  key: z.string(),
  bytes: z.number().int().nonnegative(),
  digest: z.string(),
})

/** The media type of a file whose type is unknown. */
export const UNKNOWN_TYPE = 'application/octet-stream'

/** A media type in lower case, without parameters; `UNKNOWN_TYPE` for any other text. */
export function cleanType(given: unknown): string {
  const [type = ''] = typeof given === 'string' ? given.toLowerCase().split(';') : []
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type.trim()) ? type.trim() : UNKNOWN_TYPE
}

const TEXT = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|sql)$|\+(json|xml|yaml)$/

/** Whether a file is text, which any model can read as part of a message. */
export function isText(mimeType: string): boolean {
  return TEXT.test(mimeType)
}

/** A file of a message, such as a picture. */
export const Attachment = z.object({
  /** Such as `image/png`. */
  mimeType: z.string(),
  /** The name of the file. */
  name: z.string().optional(),
  blob: BlobReference,
})
export type Attachment = z.infer<typeof Attachment>

/** A file for a model: its bytes, or a reference to them. */
export const Media = z.object({
  ...Attachment.omit({ blob: true }).shape,
  /** The bytes in base64. */
  data: z.string().optional(),
  blob: BlobReference.optional(),
})
export type Media = z.infer<typeof Media>
