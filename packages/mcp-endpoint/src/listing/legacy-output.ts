import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'

/** Keywords whose values are data, in which a `$ref` is no reference. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose values are schemas by names of the author's choice. */
const SCHEMAS_BY_NAME = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
const NEW_ROOT = '#/properties/result'

/**
 * Whether legacy clients, which require objects, get the output of a tool as `{ result: … }`. The TypeScript SDK's
 * server has the same rule.
 */
export function needsWrapping({ outputSchema }: Params): boolean {
  return isObject(outputSchema) && outputSchema['type'] !== 'object'
}

/** A tool with its output schema in the form for legacy clients. */
export function withLegacyOutput<T extends Params>(tool: T): T {
  const { outputSchema: schema } = tool
  if (!isObject(schema) || !needsWrapping(tool)) return tool
  const { $schema } = schema
  const dialect = typeof $schema === 'string' ? { $schema } : {}
  const properties = { result: moved(schema) }
  return { ...tool, outputSchema: { ...dialect, type: 'object', properties, required: ['result'] } }
}

/** Moves a schema: references to its root are changed to its new place. */
function moved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moved)
  // References within a schema with an id are relative to that schema.
  if (!isObject(schema) || hasOwnBase(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key === '$ref' || key === '$dynamicRef') return [key, movedReference(value)]
    if (DATA.has(key)) return [key, value]
    if (!SCHEMAS_BY_NAME.has(key) || !isObject(value)) return [key, moved(value)]
    const named = Object.entries(value).map(([name, each]) => [name, moved(each)] as const)
    return [key, Object.fromEntries(named)]
  })
  return Object.fromEntries(entries)
}

function movedReference(reference: unknown): unknown {
  const isFromRoot =
    typeof reference === 'string' && (reference === '#' || reference.startsWith('#/'))
  return isFromRoot ? `${NEW_ROOT}${reference.slice(1)}` : reference
}

/** Whether a schema has its own base. An id with only a fragment names a place in the same document. */
function hasOwnBase({ $id }: Params): boolean {
  return $id !== undefined && !(typeof $id === 'string' && $id.startsWith('#'))
}
