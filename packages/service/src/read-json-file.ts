import { readFileSync } from 'node:fs'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { z } from 'zod'
import { ConfigError } from './settings.ts'

/**
 * Reads a file of settings: JSON with comments and trailing commas. Throws `ConfigError` with all that is wrong;
 * answers `undefined` when there is none.
 */
export function readJsonFile<T>(path: string, schema: z.ZodType<T>): T | undefined {
  let text: string
  try {
    // Editors of Windows begin files with a byte order mark.
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    if (code === 'ENOENT') return undefined
    throw new ConfigError([`${path}: cannot be read (${code})`])
  }
  const faults: ParseError[] = []
  const value = parseNested(text, faults, path)
  const [fault] = faults
  if (fault !== undefined) {
    const line = text.slice(0, fault.offset).split('\n').length
    const what = printParseErrorCode(fault.error)
    throw new ConfigError([`${path}: line ${line} is not valid JSON (${what})`])
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      // Of a key it says only that it is wrong.
      const reason = issue.code === 'invalid_key' ? issue.issues[0] : undefined
      return `${path}: ${issue.path.join('.')}: ${reason?.message ?? issue.message}`
    }),
  )
}

function parseNested(text: string, faults: ParseError[], path: string): unknown {
  try {
    return parse(text, faults, { allowTrailingComma: true })
  } catch (error) {
    // The parser recurses for each level.
    if (error instanceof RangeError) throw new ConfigError([`${path}: is nested too deeply`])
    throw error
  }
}
