import { isObject } from '../json/is-object.ts'
/** A tool's JSON Schema as all clients take it, where it has one reading; else as it is. */
export function toObjectSchema(schema: unknown): unknown {
  // No arguments are described: any may be given.
  if (schema === undefined || schema === null || schema === true) return { type: 'object' }
  if (!isObject(schema)) return schema
  const { type, properties } = schema
  return {
    ...schema,
    ...(includesObject(type) ? { type: 'object' } : {}),
    ...(isObject(properties) ? { properties: toPropertySchemas(properties) } : {}),
  }
}

/** Arguments are always an object, so that other types beside it mean nothing. */
function includesObject(type: unknown): boolean {
  if (type === undefined || type === null) return true
  if (Array.isArray(type)) return type.some(includesObject)
  return typeof type === 'string' && ['object', 'any'].includes(type.toLowerCase())
}

/** Clients do not know schemas that are `true` or `false`. */
function toPropertySchemas(properties: Readonly<Record<string, unknown>>): object {
  const schemas = Object.entries(properties).map(([name, schema]) => {
    if (isObject(schema)) return [name, schema]
    return [name, schema === false ? { not: {} } : {}]
  })
  return Object.fromEntries(schemas)
}
