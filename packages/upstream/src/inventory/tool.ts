import type { ProtocolEra } from '@modelcontextprotocol/client'
import * as z from 'zod'

import type { ToolIdentity } from '@mcp-host/mcp'
import { hasMoreValues, isTooDeep, TOO_DEEP } from '@mcp-host/json'
import { described } from './described.ts'
import { toObjectSchema } from './object-schema.ts'

/**
 * Limit for the values of a schema. Larger schemas are useless for a model (about 80,000 tokens), and take seconds to
 * compile.
 */
const MAX_SCHEMA_VALUES = 20_000

export type JsonSchema = Readonly<Record<string, unknown>>

/** The parts of a schema that clients check. */
const schemaFields = {
  $schema: z.string().optional(),
  properties: z.record(z.string(), z.looseObject({})).optional(),
  required: z.array(z.string()).optional(),
}
const objectSchema: z.ZodType<JsonSchema> = z.looseObject({
  type: z.literal('object'),
  ...schemaFields,
})
const anySchema: z.ZodType<JsonSchema> = z.looseObject(schemaFields)

/** A tool as its server describes it, unknown fields included. */
export const Tool = z.looseObject({
  name: z.string().min(1),
  ...described,
  inputSchema: objectSchema,
  /** The schema of the result's `structuredContent`. */
  outputSchema: anySchema.optional(),
  annotations: z
    .looseObject({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  execution: z
    .looseObject({ taskSupport: z.enum(['required', 'optional', 'forbidden']).optional() })
    .optional(),
})
export type Tool = Readonly<z.infer<typeof Tool>>

/** A tool of a host: `name` is `{server}.{tool}`, `tool` is the name that its server gave it. */
export type HostTool = Tool & ToolIdentity

/** Converts the schemas of a tool to the form that all clients accept. */
export function withObjectSchemas(
  raw: Readonly<Record<string, unknown>>,
  era: ProtocolEra,
): Record<string, unknown> {
  const { outputSchema } = raw
  // Before 2026-07-28 every result is an object.
  const isWanted = era === 'legacy' && typeof outputSchema === 'object' && outputSchema !== null
  return {
    ...raw,
    inputSchema: toObjectSchema(raw['inputSchema']),
    ...(isWanted ? { outputSchema: toObjectSchema(outputSchema) } : {}),
  }
}

/** Whether the server declares that a repeated call has no further effect. */
export function isSafeToRepeat({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
}

/** The reason why a tool's schemas are too large or too deep, if they are. */
export function sizeFault({ inputSchema, outputSchema }: Tool): string | undefined {
  const schemas = [inputSchema, outputSchema]
  if (schemas.some((each) => isTooDeep(each))) return `its schema is ${TOO_DEEP}`
  const isLarge = schemas.some((each) => hasMoreValues(each, MAX_SCHEMA_VALUES))
  return isLarge ? `its schema has more than ${MAX_SCHEMA_VALUES} values` : undefined
}

/** Whether the tool can only be called as a task (an experiment of revision 2025-11-25). */
export function mustBeTask({ execution }: Tool): boolean {
  return execution?.taskSupport === 'required'
}
