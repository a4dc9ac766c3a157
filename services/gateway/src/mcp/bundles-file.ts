import { z } from 'zod'

const names = z.record(
  z.string(),
  z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, 'must be 1 to 128 letters, digits, "_", "." or "-"'),
)
const patterns = z.array(z.string().min(1))

const Server = z.strictObject({
  allow: patterns.optional(),
  deny: patterns.optional(),
  rename: names.optional(),
  describe: z.record(z.string(), z.string()).optional(),
  prompts: z.boolean().optional(),
  resources: z.boolean().optional(),
})

/** `bundles.json`. `core/bundle.ts` describes the fields. */
export const BundlesFile = z.strictObject({
  /** The schema for editors; it is not read. */
  $schema: z.string().optional(),
  bundles: z.record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"'),
    z.strictObject({
      instructions: z.string().optional(),
      names: z.enum(['always', 'on-collision', 'never']).optional(),
      servers: z.record(z.string(), Server).optional(),
      toolSearch: z.boolean().optional(),
    }),
  ),
})
export type BundlesFile = z.infer<typeof BundlesFile>
