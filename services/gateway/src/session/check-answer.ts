/** A fault of one value in a user's answer. */
export interface AnswerFault {
  readonly field: string
  readonly message: string
}

type Schema = Readonly<Record<string, unknown>>
type Content = Readonly<Record<string, unknown>>

/** Longer texts are refused for fields with a format. */
const MAX_FORMATTED_LENGTH = 2_048

/**
 * Checks an answer against the schema of its question: a flat object of texts, numbers, booleans and choices, as MCP
 * allows. The server checks other keywords.
 */
export function checkAnswer(schema: Schema, content: Content): AnswerFault[] {
  const properties = object(schema['properties'])
  // Sets, since the lists of a server may be long and are searched for each value.
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  const missing = Object.entries(properties).flatMap(([field, property]) => {
    const isMissing =
      required.has(field) &&
      !Object.hasOwn(content, field) &&
      // The host fills in the default.
      object(property)['default'] === undefined
    return isMissing ? [{ field, message: 'is needed' }] : []
  })
  const wrong = Object.entries(content).flatMap(([field, value]) => {
    const property = Object.hasOwn(properties, field) ? object(properties[field]) : undefined
    const message = property === undefined ? 'was not asked for' : fault(property, value)
    return message === undefined ? [] : [{ field, message }]
  })
  return [...missing, ...wrong]
}

function fault(property: Schema, value: unknown): string | undefined {
  switch (property['type']) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'integer':
    case 'number':
      return numberFault(property, value)
    case 'array':
      return choicesFault(property, value)
    case 'string':
      return textFault(property, value)
    default:
      return undefined
  }
}

function numberFault({ type, minimum, maximum }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'number') return 'must be a number'
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number'
  if (typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`
  return undefined
}

function textFault(property: Schema, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  const { minLength, maxLength, format } = property
  const choices = choicesOf(property)
  if (choices !== undefined) return choices.includes(value) ? undefined : oneOf(choices)
  // JSON Schema counts characters, not UTF-16 units.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength) {
    return `must have at least ${minLength} characters`
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    return `must have at most ${maxLength} characters`
  }
  return typeof format === 'string' ? formatFault(format, value) : undefined
}

function choicesFault({ items, minItems, maxItems }: Schema, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list'
  const choices = choicesOf(object(items))
  const known = new Set(choices)
  if (choices !== undefined && !value.every((each) => known.has(each))) return oneOf(choices)
  if (typeof minItems === 'number' && value.length < minItems) {
    return `must have at least ${minItems} entries`
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    return `must have at most ${maxItems} entries`
  }
  return undefined
}

/** The allowed values, if the schema lists them. */
function choicesOf({ enum: values, oneOf: one, anyOf: any }: Schema): unknown[] | undefined {
  if (Array.isArray(values)) return values
  const titled = one ?? any
  return Array.isArray(titled) ? titled.map((each) => object(each)['const']) : undefined
}

function oneOf(choices: readonly unknown[]): string {
  return `must be one of ${choices.map((each) => JSON.stringify(each)).join(', ')}`
}

function formatFault(format: string, value: string): string | undefined {
  if (value.length > MAX_FORMATTED_LENGTH) return `is too long (format ${format})`
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(value) ? undefined : 'must be an email address'
    case 'uri':
      return URL.canParse(value) ? undefined : 'must be a URL'
    case 'date':
      return isDate(value) ? undefined : 'must be a date such as 2026-01-31'
    case 'date-time': {
      const [, day = ''] =
        /^(.{10})[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.exec(value) ?? []
      const isTime = isDate(day) && !Number.isNaN(Date.parse(value))
      return isTime ? undefined : 'must be a time such as 2026-01-31T12:00:00Z'
    }
    default:
      return undefined
  }
}

/** `Date` takes the 31st of February for a day in March. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

function object(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {}
}
