import { isObject } from '@mcp-host/json'

/** A tool's JSON Schema in the form that all clients accept, where its meaning is clear; otherwise unchanged. */
export function toObjectSchema(schema: unknown): unknown {
  // A schema without content allows any arguments.
  if (schema === undefined || schema === null || schema === true) return { type: 'object' }
  if (!isObject(schema)) return schema
  const { type, properties } = schema
  return {
    ...schema,
    ...(includesObject(type) ? { type: 'object' } : {}),
    ...(isObject(properties) ? { properties: toPropertySchemas(properties) } : {}),
  }
}

/** Whether a `type` allows objects. Arguments are always objects, so other types beside it have no effect. */
function includesObject(type: unknown): boolean {
  if (type === undefined || type === null) return true
  if (Array.isArray(type)) return type.some(includesObject)
  return typeof type === 'string' && ['object', 'any'].includes(type.toLowerCase())
}

/** Replaces the schemas `true` and `false`, which clients do not accept. */
function toPropertySchemas(properties: Readonly<Record<string, unknown>>): object {
  const schemas = Object.entries(properties).map(([name, schema]) => {
    if (isObject(schema)) return [name, schema]
    return [name, schema === false ? { not: {} } : {}]
  })
  return Object.fromEntries(schemas)
}
