import * as z from 'zod'

import { coerceScalar, type JsonPath, valueAt, withValueAt } from '@mcp-host/json'

/** An item with more faults is unreadable. */
const MAX_FAULTS = 100
const MAX_REPORTED = 5

export type ReadItem<Item> =
  | {
      readonly kind: 'item'
      readonly item: Item
      /** The paths of dropped parts, such as `annotations.priority`. */
      readonly dropped: readonly string[]
    }
  | { readonly kind: 'unreadable'; readonly faults: readonly string[] }

/**
 * Reads an item of a list. Faulty optional parts are corrected where their meaning is clear, as `"12"` for a number or
 * null for a missing value, and dropped otherwise.
 */
export function readItem<Item>(schema: z.ZodType<Item>, raw: unknown): ReadItem<Item> {
  const dropped: string[] = []
  let item = raw
  for (let faults = 0; faults < MAX_FAULTS; faults += 1) {
    const parsed = parse(schema, item)
    if (parsed === undefined) break
    // Not the parsed value, in which the fields may have another order.
    if (parsed.success) return { kind: 'item', item: item as Item, dropped }
    const { issues } = parsed.error
    const [issue] = issues
    const path = issue === undefined ? [] : faultyPart(item, issue.path)
    if (issues.length > MAX_FAULTS) break
    if (issue === undefined || path.length === 0) {
      return { kind: 'unreadable', faults: issues.slice(0, MAX_REPORTED).map(describe) }
    }
    const value = valueAt(item, path)
    const corrected = correct(value, issue)
    if (corrected === undefined && value !== null) dropped.push(z.core.toDotPath(path))
    item = withValueAt(item, path, corrected)
  }
  return { kind: 'unreadable', faults: ['has too many faults, or none that can be named'] }
}

/** Undefined where zod throws, as for an object with a `length` in place of a string. */
function parse<Item>(
  schema: z.ZodType<Item>,
  item: unknown,
): z.ZodSafeParseResult<Item> | undefined {
  try {
    return schema.safeParse(item)
  } catch {
    return undefined
  }
}

/** The path of the faulty part to remove: the part itself, or its parent when it is missing. */
function faultyPart(item: unknown, path: JsonPath): JsonPath {
  return valueAt(item, path) === undefined ? path.slice(0, -1) : path
}

function correct(value: unknown, issue: z.core.$ZodIssue): unknown {
  if (issue.code !== 'invalid_type') return undefined
  if (issue.expected === 'array') return typeof value === 'string' ? [value] : undefined
  // A tool with a changed name could not be called.
  return issue.expected === 'string' ? undefined : coerceScalar(value, issue.expected)
}

function describe({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${z.core.toDotPath([...path])}: ${message}`
}
