import { z } from 'zod'

/** Something in the object store. */
export const BlobReference = z.object({
  key: z.string(),
  bytes: z.number().int().nonnegative(),
  digest: z.string(),
})
