import * as z from 'zod'

/** A prompt as its server describes it, fields that we do not know included. */
export const Prompt = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  arguments: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string().optional(),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
})
export type Prompt = Readonly<z.infer<typeof Prompt>>

/** A resource as its server describes it, fields that we do not know included. */
export const Resource = z.looseObject({
  uri: z.string().min(1),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
})
export type Resource = Readonly<z.infer<typeof Resource>>

/** A family of resources; the template is that of RFC 6570. */
export const ResourceTemplate = z.looseObject({
  uriTemplate: z.string().min(1),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
})
export type ResourceTemplate = Readonly<z.infer<typeof ResourceTemplate>>
