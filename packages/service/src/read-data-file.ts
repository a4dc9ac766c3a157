import { readFileSync } from 'node:fs'
import { type ParseError, parse, printParseErrorCode, visit } from 'jsonc-parser'
import { decodeText, readFault } from '@mcp-host/json'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import type { Place } from './field-places.ts'
import { fieldPlaces, isYamlFile, placeAt } from './field-places.ts'
import { ConfigError } from './settings.ts'

interface DataFileForm {
  /** Leaves keys that an object has twice to another reader of the file: the last one counts here. */
  readonly mayRepeatKeys?: boolean
}

/**
 * Reads a file of settings, in YAML where its name says so, else in JSON with comments and trailing commas; `undefined`
 * when it does not exist. Throws `ConfigError` with all faults.
 */
export function readDataFile<T>(
  path: string,
  schema: z.ZodType<T>,
  { mayRepeatKeys = false }: DataFileForm = {},
): T | undefined {
  let text: string
  try {
    text = decodeText(readFileSync(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigError([`${path}: ${readFault(error)}`])
  }
  const parsed = schema.safeParse(parseText(text, path, mayRepeatKeys))
  if (parsed.success) return parsed.data
  const places = fieldPlaces(text, path)
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      const { field, code, keys = [], message } = explainIssue(issue)
      const [key] = keys
      const remedy = code === 'unrecognized_keys' ? '; correct its name, or remove it' : ''
      const place = key === undefined ? places.of(field) : places.ofKey(field, key)
      const name = field.length === 0 ? '' : `${field.join('.')}: `
      return `${at(path, place)} ${name}${message}${remedy}`
    }),
  )
}

function at(file: string, { line, column }: Place): string {
  return `${file}:${line}:${column}:`
}

interface ExplainedIssue {
  readonly field: readonly PropertyKey[]
  readonly code: string
  readonly keys?: readonly string[]
  readonly message: string
}

/** An issue with the reason that is nested in it. */
function explainIssue(issue: z.core.$ZodIssue): ExplainedIssue {
  const { path: field, code, message } = issue
  switch (issue.code) {
    case 'unrecognized_keys':
      return { field, code, keys: issue.keys, message }
    case 'invalid_key':
      return { field, code, message: issue.issues[0]?.message ?? message }
    case 'invalid_union': {
      const nested = issue.errors.flatMap(([first]) => (first ? [explainIssue(first)] : []))
      // The alternative that the value resembles most.
      const deepest = nested.find((each) => each.field.length > 0)
      if (deepest !== undefined) return { ...deepest, field: [...field, ...deepest.field] }
      const messages = nested.map((each) => each.message)
      return { field, code, message: messages.length > 0 ? messages.join(', or ') : message }
    }
    default:
      return { field, code, message }
  }
}

function parseText(text: string, path: string, mayRepeatKeys: boolean): unknown {
  try {
    return isYamlFile(path)
      ? parseYaml(text, path, mayRepeatKeys)
      : parseJson(text, path, mayRepeatKeys)
  } catch (error) {
    // The parsers are recursive, and overflow the stack.
    if (error instanceof RangeError) throw new ConfigError([`${path}: is nested too deeply`])
    throw error
  }
}

function parseJson(text: string, path: string, mayRepeatKeys: boolean): unknown {
  const faults: ParseError[] = []
  const value: unknown = parse(text, faults, { allowTrailingComma: true })
  const [fault] = faults
  if (fault !== undefined) {
    // As `comma expected`.
    const reason = printParseErrorCode(fault.error)
      .replaceAll(/\B[A-Z]/g, ' $&')
      .toLowerCase()
    const place = at(path, placeAt(text, fault.offset))
    throw new ConfigError([`${place} is not valid JSON (${reason})`])
  }
  const repeated = mayRepeatKeys ? [] : findRepeatedKeys(text)
  if (repeated.length === 0) return value
  throw new ConfigError(
    repeated.map(({ key, ...place }) => {
      return `${at(path, place)} has the key "${key}" again; rename or remove one of the two`
    }),
  )
}

/** The keys that an object has twice, of which the parser drops the first. */
function findRepeatedKeys(text: string): (Place & { readonly key: string })[] {
  const repeated: (Place & { readonly key: string })[] = []
  const objects: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void objects.push(new Set()),
    onObjectProperty(key, _offset, _length, line, column) {
      const keys = objects.at(-1)
      if (keys?.has(key) === true) {
        repeated.push({ key, line: line + 1, column: column + 1 })
      }
      keys?.add(key)
    },
    onObjectEnd: () => void objects.pop(),
  })
  return repeated
}

function parseYaml(text: string, path: string, mayRepeatKeys: boolean): unknown {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: !mayRepeatKeys })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length === 0) {
    try {
      return document.toJS()
    } catch (error) {
      // An alias without an anchor, or too many of them.
      if (!(error instanceof ReferenceError)) throw error
      throw new ConfigError([`${path}: ${error.message}`])
    }
  }
  throw new ConfigError(
    faults.map(({ pos: [offset], message }) => {
      return `${at(path, placeAt(text, offset))} is not valid YAML (${message})`
    }),
  )
}
