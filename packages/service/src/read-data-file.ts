import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { type ParseError, parse, printParseErrorCode, visit } from 'jsonc-parser'
import { decodeText, readFault } from 'mcp-host/json'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
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
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      // The reason of an invalid key is in a nested issue.
      const reason = issue.code === 'invalid_key' ? issue.issues[0] : undefined
      return `${path}: ${issue.path.join('.')}: ${reason?.message ?? issue.message}`
    }),
  )
}

function parseText(text: string, path: string, mayRepeatKeys: boolean): unknown {
  const isYaml = /^\.ya?ml$/.test(extname(path))
  try {
    return isYaml ? parseYaml(text, path) : parseJson(text, path, mayRepeatKeys)
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
    const line = text.slice(0, fault.offset).split('\n').length
    const code = printParseErrorCode(fault.error)
    throw new ConfigError([`${path}: line ${line} is not valid JSON (${code})`])
  }
  const repeated = mayRepeatKeys ? [] : findRepeatedKeys(text)
  if (repeated.length === 0) return value
  throw new ConfigError(
    repeated.map(({ key, line }) => {
      return `${path}: line ${line} has the key "${key}" again; rename or remove one of the two`
    }),
  )
}

/** The keys that an object has twice, of which the parser drops the first. */
function findRepeatedKeys(text: string): { readonly key: string; readonly line: number }[] {
  const repeated: { readonly key: string; readonly line: number }[] = []
  const objects: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void objects.push(new Set()),
    onObjectProperty(key, _offset, _length, line) {
      const keys = objects.at(-1)
      if (keys?.has(key) === true) repeated.push({ key, line: line + 1 })
      keys?.add(key)
    },
    onObjectEnd: () => void objects.pop(),
  })
  return repeated
}

function parseYaml(text: string, path: string): unknown {
  const document = parseDocument(text, { prettyErrors: false })
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
      const line = text.slice(0, offset).split('\n').length
      return `${path}: line ${line} is not valid YAML (${message})`
    }),
  )
}
