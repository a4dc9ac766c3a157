import type { OfferedTool } from '@mcp-host/contracts'
import { z } from 'zod'
import { portableSchema } from '@mcp-host/json'

type JsonSchema = OfferedTool['inputSchema']
export type Json = JsonSchema[string]

/** An argument of a tool. */
export interface Field {
  readonly name: string
  readonly isRequired: boolean
  /** Whether the field accepts any text. */
  readonly isText: boolean
  /** The texts of its enumeration. */
  readonly options: readonly string[]
  /** Its default value. */
  readonly usual: Json | undefined
  readonly accepts: (value: Json) => boolean
}

/** The arguments of a tool; empty when its schema is invalid. */
export function readFields(inputSchema: JsonSchema): Field[] {
  const { properties = {}, required } = resolve(inputSchema)
  return Object.entries(properties as Record<string, unknown>).map(([name, property]) => {
    const options: string[] = []
    const schema = toZod(property, options)
    const accepts = (value: Json): boolean => schema.safeParse(value).success
    return {
      name,
      isRequired: [required].flat().includes(name),
      isText: accepts('some text'),
      options,
      usual: schema.safeParse(undefined).data as Json | undefined,
      accepts,
    }
  })
}

function resolve(schema: JsonSchema): Record<string, unknown> {
  try {
    return portableSchema(schema)
  } catch {
    // The server reports the fault when the tool is called.
    return {}
  }
}

/** Converts a schema to zod. Adds the texts of enumerations to `options`. */
function toZod(property: unknown, options: string[]): z.ZodType {
  const text = JSON.stringify(property, (key, value: unknown) => {
    if (key === 'enum') options.push(...[value].flat().filter((each) => typeof each === 'string'))
    // Regular expressions of a server are ignored, since they could block the event loop for any time.
    return (key === 'pattern' && typeof value === 'string') || key === 'patternProperties'
      ? undefined
      : value
  })
  try {
    return z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema)
  } catch {
    // Schemas that zod does not know are left to the server to check.
    return z.any()
  }
}
