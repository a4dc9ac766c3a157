import { ownValue } from '@mcp-host/contracts'
import type { z } from 'zod'

/**
 * Adds a description to each field of a schema, for the HTTP reference. The contracts have none, since a changed
 * description would count as a change of the wire.
 */
export function describeFields<T extends z.ZodObject>(
  schema: T,
  texts: Readonly<Record<keyof T['shape'], string>>,
): T {
  const fields = Object.entries<z.ZodType>(schema.def.shape)
  const described = fields.map(([name, field]) => [
    name,
    field.describe(ownValue(texts, name) ?? ''),
  ])
  return schema.extend(Object.fromEntries(described)) as T
}
