import type { OfferedTool } from '@mcp-host/contracts'

export type JsonSchema = OfferedTool['inputSchema']
export type Json = JsonSchema[string]

const KINDS = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const

export type FieldKind = (typeof KINDS)[number] | 'any'

/** A value the tool takes, as far as the demo model understands its JSON Schema. */
export interface Field {
  readonly name: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  readonly description: string
  readonly format?: string
  /** The only values allowed. */
  readonly options?: readonly Json[]
  readonly fallback?: Json
  /** Of an array. */
  readonly items?: Field
  /** Of an object. */
  readonly fields?: readonly Field[]
}

/** Deeper than this a schema is not looked into; it may refer to itself. */
const MAX_DEPTH = 5

export function readFields(schema: JsonSchema): readonly Field[] {
  return toField('', schema, true, { root: schema, depth: 0 }).fields ?? []
}

interface Reading {
  readonly root: JsonSchema
  readonly depth: number
}

function toField(name: string, raw: Json | undefined, isRequired: boolean, at: Reading): Field {
  const schema = resolve(raw, at)
  const options = optionsOf(schema)
  const kind = kindOf(schema, options)
  const { description, format } = schema
  return {
    name,
    kind,
    isRequired,
    description: typeof description === 'string' ? description : '',
    ...(typeof format === 'string' ? { format } : {}),
    ...(options === undefined ? {} : { options }),
    ...(schema['default'] === undefined ? {} : { fallback: schema['default'] }),
    ...(kind === 'array' ? { items: toField(name, schema['items'], true, deeper(at)) } : {}),
    ...(kind === 'object' ? { fields: fieldsOf(schema, deeper(at)) } : {}),
  }
}

function fieldsOf(schema: JsonSchema, at: Reading): Field[] {
  if (at.depth > MAX_DEPTH) return []
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return Object.entries(asSchema(schema['properties']))
    .map(([name, property]) => toField(name, property, required.has(name), at))
    .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired))
}

/** Follows local references, and takes the first branch that is not null. */
function resolve(raw: Json | undefined, { root, depth }: Reading, hops = 0): JsonSchema {
  const schema = asSchema(raw)
  if (hops > MAX_DEPTH || depth > MAX_DEPTH) return {}
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const { $ref: _, ...rest } = schema
    return { ...resolve(lookUp(root, reference), { root, depth }, hops + 1), ...rest }
  }
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(branches)) {
    const branch = branches.find((candidate) => asSchema(candidate)['type'] !== 'null')
    return { ...resolve(branch, { root, depth }, hops + 1), ...schema }
  }
  if (Array.isArray(schema['allOf'])) {
    const parts = schema['allOf'].map((part) => resolve(part, { root, depth }, hops + 1))
    return { ...schema, ...merge(parts) }
  }
  return schema
}

function merge(parts: readonly JsonSchema[]): JsonSchema {
  const merged = Object.fromEntries(parts.flatMap((part) => Object.entries(part)))
  if (merged['properties'] === undefined) return merged
  const properties = parts.flatMap((part) => Object.entries(asSchema(part['properties'])))
  const required = parts.flatMap((part) =>
    Array.isArray(part['required']) ? part['required'] : [],
  )
  return { ...merged, properties: Object.fromEntries(properties), required }
}

function lookUp(root: JsonSchema, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined
  const steps = reference.slice(1).split('/').filter(Boolean)
  let found: Json | undefined = root
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const schema = asSchema(found)
    found = Object.hasOwn(schema, key) ? schema[key] : undefined
  }
  return found
}

function kindOf(schema: JsonSchema, options: readonly Json[] | undefined): FieldKind {
  const raw = schema['type']
  const type = Array.isArray(raw) ? raw.find((one) => one !== 'null') : raw
  const known = KINDS.find((kind) => kind === type)
  if (known !== undefined) return known
  if (schema['properties'] !== undefined) return 'object'
  if (schema['items'] !== undefined) return 'array'
  return options?.every((option) => typeof option === 'string') === true ? 'string' : 'any'
}

function optionsOf(schema: JsonSchema): readonly Json[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']]
  const { enum: options } = schema
  return Array.isArray(options) ? options.filter((option) => option !== null) : undefined
}

function deeper({ root, depth }: Reading): Reading {
  return { root, depth: depth + 1 }
}

function asSchema(value: Json | undefined): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
