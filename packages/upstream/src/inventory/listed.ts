import * as z from 'zod'

import { described } from './described.ts'
import { nameFault } from './item-name.ts'

/** A prompt as its server describes it, unknown fields included. */
export const Prompt = z.looseObject({
  name: z.string().min(1),
  ...described,
  arguments: z
    .array(
      z.looseObject({
        name: z.string(),
        title: z.string().optional(),
        description: z.string().optional(),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
})
export type Prompt = Readonly<z.infer<typeof Prompt>>

const resourceFields = {
  name: z.string(),
  ...described,
  mimeType: z.string().optional(),
  annotations: z
    .looseObject({
      audience: z.array(z.enum(['user', 'assistant'])).optional(),
      priority: z.number().min(0).max(1).optional(),
      lastModified: z.iso.datetime({ offset: true }).optional(),
    })
    .optional(),
}

/** A resource as its server describes it, unknown fields included. */
export const Resource = z.looseObject({
  uri: z.string().min(1),
  ...resourceFields,
  size: z.number().optional(),
})
export type Resource = Readonly<z.infer<typeof Resource>>

/** A family of resources, with a URI template of RFC 6570. */
export const ResourceTemplate = z.looseObject({
  uriTemplate: z.string().min(1),
  ...resourceFields,
})
export type ResourceTemplate = Readonly<z.infer<typeof ResourceTemplate>>

/** Adds a display name to a resource: the first valid one of its name, title and URI. */
export function withName(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = [raw['name'], raw['title'], raw['uri'], raw['uriTemplate']]
  const texts = names.filter((name) => typeof name === 'string')
  return { ...raw, name: texts.find((text) => nameFault(text) === undefined) ?? texts[0] }
}
