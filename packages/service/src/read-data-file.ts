import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { decodeText, readFault } from 'mcp-host/json'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import { ConfigError } from './settings.ts'

/**
 * Reads a file of settings, in YAML where its name says so, else in JSON with comments and trailing commas; `undefined`
 * when it does not exist. Throws `ConfigError` with all faults.
 */
export function readDataFile<T>(path: string, schema: z.ZodType<T>): T | undefined {
  let text: string
  try {
    text = decodeText(readFileSync(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigError([`${path}: ${readFault(error)}`])
  }
  const parsed = schema.safeParse(parseText(text, path))
  if (parsed.success) return parsed.data
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      // The reason of an invalid key is in a nested issue.
      const reason = issue.code === 'invalid_key' ? issue.issues[0] : undefined
      return `${path}: ${issue.path.join('.')}: ${reason?.message ?? issue.message}`
    }),
  )
}

function parseText(text: string, path: string): unknown {
  const isYaml = /^\.ya?ml$/.test(extname(path))
  try {
    return isYaml ? parseYaml(text, path) : parseJson(text, path)
  } catch (error) {
    // The parsers are recursive, and overflow the stack.
    if (error instanceof RangeError) throw new ConfigError([`${path}: is nested too deeply`])
    throw error
  }
}

function parseJson(text: string, path: string): unknown {
  const faults: ParseError[] = []
  const value: unknown = parse(text, faults, { allowTrailingComma: true })
  const [fault] = faults
  if (fault === undefined) return value
  const line = text.slice(0, fault.offset).split('\n').length
  const code = printParseErrorCode(fault.error)
  throw new ConfigError([`${path}: line ${line} is not valid JSON (${code})`])
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
