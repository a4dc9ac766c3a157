import type { ArgumentIssue } from '../errors/validation-error.ts'
import { pointerPath } from '@mcp-host/json'
import type { SchemaError } from './schema-checker.ts'

/** Longer lists and texts of a schema are cut in messages. */
const MAX_SHOWN_VALUES = 50
const MAX_SHOWN_CHARACTERS = 500

/** Describes what a schema requires of one argument. Never repeats the value, which may be a secret. */
export function describeIssue({
  instancePath,
  keyword,
  params,
  message,
}: SchemaError): ArgumentIssue {
  const argument = toArgument(instancePath)
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params
  const surplus: unknown = additionalProperty ?? unevaluatedProperty
  if (keyword === 'required') {
    return { argument: join(argument, String(missingProperty)), expected: 'is required' }
  }
  if (typeof surplus === 'string') {
    return { argument: join(argument, surplus), expected: 'is not a known argument' }
  }
  if (Array.isArray(allowedValues)) {
    const values = allowedValues.slice(0, MAX_SHOWN_VALUES).map(shown)
    const more = allowedValues.length - values.length
    const rest = more > 0 ? ` and ${more} more` : ''
    return { argument, expected: `must be one of ${values.join(', ')}${rest}` }
  }
  if (keyword === 'const') {
    return { argument, expected: `must be ${shown(params['allowedValue'])}` }
  }
  return { argument, expected: cut(message ?? `must satisfy "${keyword}"`) }
}

/** Converts a JSON pointer, such as `/tags/0`, to `tags[0]`. */
function toArgument(pointer: string): string {
  return pointerPath(pointer).reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : join(path, step)),
    '',
  )
}

function shown(value: unknown): string {
  return cut(JSON.stringify(value))
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

function join(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}
