import { ownValue } from '@mcp-host/contracts'
import type { z } from 'zod'

/**
 * The same schema with a sentence about each field, for the description of the HTTP API. Not in the contracts:
 * there words would count as a change of the wire.
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
