import * as z from 'zod'

/** A tool as its server describes it, fields that we do not know included. */
export const Tool = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  /** A JSON Schema. */
  inputSchema: z.looseObject({}),
  annotations: z.looseObject({}).optional(),
})
export type Tool = Readonly<z.infer<typeof Tool>>
