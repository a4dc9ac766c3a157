import type { FieldValue, FormValues } from '../state/form-values.ts'
import { objectOf } from '../state/object-of.ts'

/** A field of a flat form, as MCP's elicitation describes it. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly hint: string | undefined
  readonly isRequired: boolean
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'choices'
  /** The `type` of the input, as `email`. */
  readonly input: string
  readonly choices: readonly Choice[]
  readonly initial: FieldValue
  /** Whether the schema gives the initial value. */
  readonly hasDefault: boolean
  /** Limits that the browser checks. */
  readonly limits: Readonly<Record<string, number>>
}

export interface Choice {
  readonly value: string
  readonly label: string
}

type Schema = Readonly<Record<string, unknown>>

/** The fields of a JSON Schema of an object. Servers may write anything into it. */
export function readFields(schema: Schema): Field[] {
  const properties = Object.entries(objectOf(schema['properties']))
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return properties.map(([name, each]) => fieldOf(name, objectOf(each), required.has(name)))
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const choices = choicesOf(schema)
  const kind = kindOf(schema, choices.length > 0)
  return {
    name,
    label: typeof schema['title'] === 'string' ? schema['title'] : name,
    hint: typeof schema['description'] === 'string' ? schema['description'] : undefined,
    isRequired,
    kind,
    input: inputOf(schema, kind),
    choices,
    initial: initialOf(schema['default'], kind),
    hasDefault: schema['default'] !== undefined,
    limits: { ...(kind === 'number' ? numberLimits(schema) : {}), ...limitsOf(schema) },
  }
}

function kindOf({ type }: Schema, hasChoices: boolean): Field['kind'] {
  if (type === 'array') return 'choices'
  if (hasChoices) return 'choice'
  if (type === 'boolean') return 'boolean'
  return type === 'number' || type === 'integer' ? 'number' : 'text'
}

/** Of `enum` with `enumNames`, of `oneOf`, and of the items of an array. */
function choicesOf(schema: Schema): Choice[] {
  if (schema['type'] === 'array') return choicesOf({ ...objectOf(schema['items']), type: '' })
  const titled = schema['oneOf'] ?? schema['anyOf']
  if (Array.isArray(titled)) {
    return titled.map(objectOf).map((each) => {
      const value = String(each['const'])
      return { value, label: typeof each['title'] === 'string' ? each['title'] : value }
    })
  }
  const values = Array.isArray(schema['enum']) ? schema['enum'] : []
  const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : []
  return values.map((value, index) => ({
    value: String(value),
    label: String(names[index] ?? value),
  }))
}

const INPUTS: Readonly<Record<string, string>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
}

function inputOf({ format }: Schema, kind: Field['kind']): string {
  if (kind === 'number') return 'number'
  return typeof format === 'string' ? (INPUTS[format] ?? 'text') : 'text'
}

function initialOf(given: unknown, kind: Field['kind']): FieldValue {
  if (kind === 'boolean') return given === true
  if (kind === 'choices') return Array.isArray(given) ? given.map(String) : []
  return typeof given === 'string' || typeof given === 'number' ? String(given) : ''
}

/** JavaScript cannot tell larger whole numbers apart. */
function numberLimits({ type }: Schema): Readonly<Record<string, number>> {
  const max = Number.MAX_SAFE_INTEGER
  return type === 'integer' ? { step: 1, min: -max, max } : {}
}

function limitsOf(schema: Schema): Readonly<Record<string, number>> {
  const names = { minimum: 'min', maximum: 'max', minLength: 'minLength', maxLength: 'maxLength' }
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => {
      const limit = schema[from]
      return typeof limit === 'number' ? [[to, limit]] : []
    }),
  )
}

/** The values for the host. Fields that are empty, or that the user has not touched and need no value, are left out. */
export function readValues(
  fields: readonly Field[],
  values: FormValues,
): Record<string, string | number | boolean | readonly string[]> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, initial, isRequired, hasDefault }) => {
      const given = values.get(name)
      if (given === undefined && !isRequired && !hasDefault) return []
      const value = given ?? initial
      if (value === '') return []
      return [[name, kind === 'number' ? Number(value) : value]]
    }),
  )
}
