import { checkAnswer } from '@mcp-host/gateway/check-answer'

/** One field of a question, for input on a terminal. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array'
  readonly isRequired: boolean
  readonly default?: unknown
  /** The choices, for a field that lists them. */
  readonly choices?: readonly { readonly value: string; readonly title: string }[]
  /** The JSON schema of the field. */
  readonly schema: Readonly<Record<string, unknown>>
}

export type FieldValue = string | number | boolean | string[]

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'array']

/** The fields of a question's schema, in its order. */
export function formFields(schema: Readonly<Record<string, unknown>> = {}): FormField[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(object(schema['properties'])).map(([name, value]) => {
    const property = object(value)
    const choices = choicesOf(property) ?? choicesOf(object(property['items']))
    const { type, title, description } = property
    return {
      name,
      label: [title ?? name, description].filter((it) => typeof it === 'string').join(': '),
      type: TYPES.includes(type) ? (type as FormField['type']) : 'string',
      isRequired: required.includes(name),
      schema: property,
      ...(property['default'] === undefined ? {} : { default: property['default'] }),
      ...(choices === undefined ? {} : { choices }),
    }
  })
}

/** The prompt of the field. */
export function fieldPrompt({
  label,
  type,
  choices,
  isRequired,
  default: preset,
}: FormField): string {
  const kinds = {
    string: '',
    number: 'number',
    integer: 'whole number',
    boolean: 'yes or no',
    array: 'several, by commas',
  }
  const about = [
    choices
      ?.map(({ value, title }) => (title === value ? value : `${value} = ${title}`))
      .join(' | '),
    kinds[type],
    preset === undefined ? (isRequired ? '' : 'optional') : `Enter: ${JSON.stringify(preset)}`,
  ].filter((it) => it !== undefined && it !== '')
  return about.length === 0 ? `  ${label}: ` : `  ${label} (${about.join('; ')}): `
}

type ReadLineResult = { readonly value?: FieldValue } | { readonly fault: string }

/** Parses a line as the value of a field. The result is a value, nothing, or the fault. */
export function readField(field: FormField, line: string): ReadLineResult {
  const read = parseLine(field, line)
  if (!('value' in read)) return read
  const { name, schema } = field
  // The gateway applies the same check to the whole form.
  const [wrong] = checkAnswer({ properties: { [name]: schema } }, { [name]: read.value })
  return wrong === undefined ? read : { fault: `This ${wrong.message}.` }
}

function parseLine(
  { type, isRequired, default: preset, choices }: FormField,
  line: string,
): ReadLineResult {
  const text = line.trim()
  if (text === '') {
    if (preset !== undefined) return { value: preset as FieldValue }
    return isRequired ? { fault: 'This is needed.' } : {}
  }
  switch (type) {
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return { value: true }
      return /^(n|no|false)$/i.test(text) ? { value: false } : { fault: 'Say yes or no.' }
    case 'number':
    case 'integer': {
      const value = Number(text)
      const fits = type === 'number' ? Number.isFinite(value) : Number.isInteger(value)
      return fits
        ? { value }
        : { fault: `This must be a ${type === 'number' ? '' : 'whole '}number.` }
    }
    case 'array': {
      const values = text.split(',').map((each) => choose(each.trim(), choices))
      return values.includes(undefined)
        ? { fault: 'Choose from the list.' }
        : { value: values as string[] }
    }
    case 'string': {
      const value = choose(text, choices)
      return value === undefined ? { fault: 'Choose from the list.' } : { value }
    }
    default:
      return type satisfies never
  }
}

/** The chosen value, entered itself or by its title. Without choices, any text. */
function choose(text: string, choices: FormField['choices']): string | undefined {
  if (choices === undefined) return text
  const meant = choices.find(({ value, title }) => value === text || title === text)
  return meant?.value
}

function choicesOf(property: Readonly<Record<string, unknown>>): FormField['choices'] {
  const { enum: values, enumNames: names, oneOf, anyOf } = property
  if (Array.isArray(values)) {
    const titles: readonly unknown[] = Array.isArray(names) ? names : []
    return values.map((value, index) => ({
      value: String(value),
      title: String(titles[index] ?? value),
    }))
  }
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled)) return undefined
  return titled.map(object).map(({ const: value, title }) => ({
    value: String(value),
    title: String(title ?? value),
  }))
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
