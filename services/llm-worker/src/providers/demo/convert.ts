import type { Token } from './sentence.ts'
import { squash } from './sentence.ts'
import type { Field, Json } from './schema-fields.ts'
import { itemsOf, optionText } from './schema-fields.ts'

const NUMBER = /^-?\d+(?:\.\d+)?$/
const URL_TEXT = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i
const FORMATS: Readonly<Record<string, RegExp>> = {
  uri: URL_TEXT,
  url: URL_TEXT,
  email: /^[^\s@]+@[^\s@]+$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\S+$/,
}
const PATH_NAME = /path|file|folder|directory/i
const PATH = /^(?!.*\*)(?:.*\/|[.~]+$|[a-z]:\\|.*\.[a-z]\w{0,7}$)/i

/** The text as a value that the schema of the field allows; nothing when it is none. */
export function convert(text: string, field: Field): Json | undefined {
  if (field.options !== undefined) {
    return field.options.find((option) => squash(optionText(option)) === squash(text))
  }
  switch (field.type) {
    case 'number':
    case 'integer':
      return NUMBER.test(text) && (field.type === 'number' || Number.isInteger(Number(text)))
        ? Number(text)
        : undefined
    case 'boolean':
      if (/^(?:true|yes|on)$/i.test(text)) return true
      return /^(?:false|no|off)$/i.test(text) ? false : undefined
    case 'array':
      return toArray(text, itemsOf(field))
    case 'object':
      return undefined
    default:
      return formatOf(field)?.test(text) === false || text === '' ? undefined : text
  }
}

/** "a, b and c" as its parts. */
function toArray(text: string, items: Field): Json[] | undefined {
  const parts = text.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).filter((part) => part !== '')
  const values = parts.map((part) => convert(part, items)).filter((value) => value !== undefined)
  return values.length === parts.length && parts.length > 0 ? values : undefined
}

/** Whether a JSON value has the type of the field; deeper levels are for the server to check. */
export function fits(value: Json, type: string): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

/** Whether the token can only be meant for a field of this type, format or kind of name. */
export function isMeantFor({ kind, text }: Token, field: Field): boolean {
  if (isNumeric(field) || field.type === 'boolean' || field.options !== undefined) {
    return convert(text, field) !== undefined
  }
  if (field.type !== 'string') return false
  const format = formatOf(field)
  if (format !== undefined) return format.test(text)
  if (isPath(field)) return kind === 'quoted' || (PATH.test(text) && !hasFormat(text))
  return kind === 'quoted'
}

export function isNumeric({ type }: Field): boolean {
  return type === 'number' || type === 'integer'
}

/** A field for the name of a file or folder. */
export function isPath({ name, schema }: Field): boolean {
  return PATH_NAME.test(name) && schema['format'] === undefined
}

/** A path, URL or number: a value of some argument rather than a word of the sentence. */
export function isLiteral(text: string): boolean {
  return PATH.test(text) || NUMBER.test(text) || hasFormat(text)
}

function hasFormat(text: string): boolean {
  return Object.values(FORMATS).some((format) => format.test(text))
}

function formatOf({ schema }: Field): RegExp | undefined {
  const format = optionText(schema['format'] ?? '')
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
}
