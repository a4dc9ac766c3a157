import type { OfferedTool } from '@mcp-host/contracts'

export type JsonSchema = OfferedTool['inputSchema']
export type Json = JsonSchema[string]

/** A property of a tool's arguments. */
export interface Field {
  readonly name: string
  /** With references and nullable types resolved. */
  readonly schema: JsonSchema
  readonly type: string
  readonly isRequired: boolean
  /** The only values allowed. */
  readonly options?: readonly Json[]
}

/** The properties of a schema, required ones first. */
export function readFields(root: JsonSchema): Field[] {
  const required = Array.isArray(root['required']) ? root['required'] : []
  return Object.entries(asSchema(root['properties']))
    .map(([name, property]) => toField(name, property, required.includes(name), root))
    .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired))
}

/** The elements of an array. */
export function itemsOf({ name, schema }: Field): Field {
  return toField(name, schema['items'], true, {})
}

function toField(
  name: string,
  raw: Json | undefined,
  isRequired: boolean,
  root: JsonSchema,
): Field {
  const schema = resolve(raw, root)
  const { const: only, enum: options, type } = schema
  const types = Array.isArray(type) ? type : [type]
  const allowed = only === undefined ? options : [only]
  return {
    name,
    schema,
    type:
      types.find((one): one is string => typeof one === 'string' && one !== 'null') ??
      (schema['items'] === undefined ? 'string' : 'array'),
    isRequired,
    ...(Array.isArray(allowed) ? { options: allowed.filter((one) => one !== null) } : {}),
  }
}

/** A value as a message would have it. */
export function optionText(option: Json): string {
  return typeof option === 'string' ? option : JSON.stringify(option)
}

/** Follows one local reference and takes the first alternative that is not null. */
function resolve(raw: Json | undefined, root: JsonSchema): JsonSchema {
  const schema = asSchema(raw)
  const branches = schema['anyOf'] ?? schema['oneOf']
  const branch = Array.isArray(branches)
    ? asSchema(branches.find((one) => asSchema(one)['type'] !== 'null'))
    : schema
  const reference = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(optionText(branch['$ref'] ?? ''))
  const [, part = '', key = ''] = reference ?? []
  const definitions = asSchema(root[part])
  const target = Object.hasOwn(definitions, key) ? asSchema(definitions[key]) : {}
  return { ...target, ...branch, ...schema }
}

function asSchema(value: Json | undefined): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
