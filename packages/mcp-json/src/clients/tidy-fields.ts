import { isObject } from '@mcp-host/json'

/** Fields with the path of a file or folder, or with arguments that may be one. */
const PATHS = ['command', 'args', 'cwd', 'envFile', 'roots'] as const
/** Fields with one word or address, around which white space is no part of it. */
const TRIMMED = ['type', 'transport', 'command', 'url', 'cwd', 'envFile'] as const
const HOME = /(?<=^|[=,])(?:~|\$HOME)(?=[/\\]|$)/g

/**
 * The fields of a server as people and editors leave them: with white space and line breaks around values, `~` and
 * `$HOME` in paths, numbers as arguments, `null` and empty fields, and `"true"`.
 */
export function tidyFields(
  written: Readonly<Record<string, unknown>>,
  home: string,
): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = Object.fromEntries(
    Object.entries(written).filter(([, value]) => value !== null),
  )
  for (const key of TRIMMED) {
    if (typeof fields[key] === 'string') fields[key] = fields[key].trim()
  }
  for (const key of ['env', 'headers']) {
    const value = fields[key]
    // PHP writes an empty object as a list.
    if (Array.isArray(value) && value.length === 0) fields[key] = {}
    if (isObject(value)) fields[key] = mapValues(value, withoutBreaks)
  }
  if (Array.isArray(fields['args'])) fields['args'] = fields['args'].map(toText)
  for (const key of PATHS) {
    const value = fields[key]
    if (Array.isArray(value)) fields[key] = value.map((each) => withHome(each, home))
    else fields[key] = withHome(value, home)
    if (fields[key] === undefined) delete fields[key]
  }
  if (fields['disabled'] === 'true' || fields['disabled'] === 'false') {
    fields['disabled'] = fields['disabled'] === 'true'
  }
  return withoutLeftovers(fields)
}

/** Removes what is empty beside the field that says how the server is reached. */
function withoutLeftovers(fields: Record<string, unknown>): Record<string, unknown> {
  const address = ['url', 'httpUrl', 'serverUrl'].find((key) => isFilled(fields[key]))
  if (address !== undefined && !isFilled(fields['command'])) {
    for (const key of ['command', 'args', 'env', 'cwd', 'envFile']) {
      if (isEmpty(fields[key])) delete fields[key]
    }
  }
  if (isFilled(fields['command'])) {
    for (const key of ['url', 'httpUrl', 'serverUrl', 'headers', 'cwd', 'envFile']) {
      if (isEmpty(fields[key])) delete fields[key]
    }
  }
  return fields
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === ''
}

function toText(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`
  return withoutBreaks(value)
}

/** A text of one line without the line breaks around it. A text of several lines, such as a key, stays as it is. */
function withoutBreaks(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const bare = value.replaceAll(/^[\r\n]+|\s*[\r\n]+$/g, '')
  return /[\r\n]/.test(bare) ? value : bare
}

function withHome(value: unknown, home: string): unknown {
  return typeof value === 'string' ? value.replaceAll(HOME, () => home) : value
}

function mapValues(
  value: Readonly<Record<string, unknown>>,
  map: (value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, map(each)]))
}
