import { squash } from '../reading/words.ts'
import type { Field, Json } from './field.ts'

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['no', false],
  ['off', false],
])

const FORMATS: ReadonlyMap<string, RegExp> = new Map([
  ['uri', /^[a-z][a-z0-9+.-]*:\S+$/i],
  ['url', /^[a-z][a-z0-9+.-]*:\S+$/i],
  ['email', /^\S+@\S+$/],
  ['date', /^\d{4}-\d{2}-\d{2}$/],
  ['date-time', /^\d{4}-\d{2}-\d{2}T\S+$/],
])

/** The words as a value of the field's type, nothing when they are none. */
export function convert(raw: string, field: Field): Json | undefined {
  const text = raw.trim()
  if (text === '') return undefined
  if (field.options !== undefined) return optionOf(text, field.options)
  switch (field.kind) {
    case 'string':
      return FORMATS.get(field.format ?? '')?.test(text) === false ? undefined : text
    case 'number':
    case 'integer':
      return toNumber(text, field.kind)
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase())
    case 'array':
      return toArray(text, field)
    case 'object':
      return undefined
    case 'any':
      return BOOLEANS.get(text.toLowerCase()) ?? toNumber(text, 'number') ?? text
    default:
      return field.kind satisfies never
  }
}

/** "a, b and c" as its parts. */
export function splitList(text: string): string[] {
  return text
    .split(/\s*[,;]\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+|\s*&\s*/)
    .map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'))
    .filter((part) => part !== '')
}

/** A JSON value that was written out, when its type fits. */
export function fromJson(value: Json, { kind, items }: Field): Json | undefined {
  if (!fits(value, kind)) return undefined
  const isMixed = Array.isArray(value) && items && value.some((item) => !fits(item, items.kind))
  return isMixed === true ? undefined : value
}

function fits(value: Json, kind: Field['kind']): boolean {
  switch (kind) {
    case 'any':
      return true
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === kind
    default:
      return kind satisfies never
  }
}

/** How a member of an enumeration is written in a message. */
export function optionText(option: Json): string {
  return typeof option === 'string' ? option : JSON.stringify(option)
}

function optionOf(text: string, options: readonly Json[]): Json | undefined {
  return options.find((option) => squash(optionText(option)) === squash(text))
}

function toNumber(text: string, kind: 'number' | 'integer'): number | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) && (kind === 'number' || Number.isInteger(value))
    ? value
    : undefined
}

function toArray(text: string, { items }: Field): Json[] | undefined {
  const parts = splitList(text)
  if (items === undefined) return parts
  const values: Json[] = []
  for (const part of parts) {
    const value = convert(part, items)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values.length === 0 ? undefined : values
}
