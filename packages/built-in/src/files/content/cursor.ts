import { isObject } from '@mcp-host/json'
import { FileError } from '../access/file-error.ts'

/** A cursor that continues after an entry. */
export function toCursor(after: readonly string[]): string {
  return Buffer.from(JSON.stringify({ after })).toString('base64url')
}

/** The names of the entry that a cursor continues after. They are compared with names, and never opened. */
export function parseCursor(cursor: string | undefined, given: string): readonly string[] {
  if (cursor === undefined) return []
  const after = readAfter(cursor)
  if (after === undefined) {
    throw new FileError(given, 'its cursor is none of this tool; leave it out to begin again')
  }
  return after
}

function readAfter(cursor: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const after = isObject(value) ? value['after'] : undefined
    const isNames = Array.isArray(after) && after.every((name) => typeof name === 'string')
    return isNames && after.length > 0 ? after : undefined
  } catch {
    // It is no JSON, which is an answer.
    return undefined
  }
}
