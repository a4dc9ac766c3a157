import { nameWords } from '../reading/words.ts'
import type { Field, Json } from './field.ts'

/** A place in the arguments that takes one value; nested objects are flattened to their leaves. */
export interface Leaf {
  readonly path: readonly (string | number)[]
  readonly field: Field
  /** Required at every level above it too. */
  readonly isRequired: boolean
}

export function leavesOf(
  fields: readonly Field[],
  path: Leaf['path'] = [],
  isRequired = true,
): Leaf[] {
  return fields.flatMap((field) => {
    const here = [...path, field.name]
    const needed = isRequired && field.isRequired
    if (hasFields(field)) return leavesOf(field.fields ?? [], here, needed)
    // Of a list of objects the first is filled.
    if (field.items !== undefined && hasFields(field.items)) {
      return leavesOf(field.items.fields ?? [], [...here, 0], needed)
    }
    return [{ path: here, field, isRequired: needed }]
  })
}

/** Puts the leaves' values together again; optional objects that lack something are left out. */
export function assemble(
  fields: readonly Field[],
  valueAt: (path: Leaf['path']) => Json | undefined,
  path: Leaf['path'] = [],
): Record<string, Json> | undefined {
  const entries: [string, Json][] = []
  for (const field of fields) {
    const value = assembleField(field, valueAt, [...path, field.name])
    if (value !== undefined) entries.push([field.name, value])
    else if (field.isRequired && path.length > 0) return undefined
  }
  return Object.fromEntries(entries)
}

function assembleField(
  field: Field,
  valueAt: (path: Leaf['path']) => Json | undefined,
  path: Leaf['path'],
): Json | undefined {
  const whole = valueAt(path)
  if (whole !== undefined) return whole
  const { fields, items } = field
  if (hasFields(field)) return nonEmpty(assemble(fields ?? [], valueAt, path), field)
  if (items === undefined || !hasFields(items)) return undefined
  const first = nonEmpty(assemble(items.fields ?? [], valueAt, [...path, 0]), items)
  return first === undefined ? undefined : [first]
}

function nonEmpty(value: Record<string, Json> | undefined, { isRequired, fields }: Field) {
  if (value === undefined || Object.keys(value).length > 0) return value
  return isRequired && fields?.every((field) => !field.isRequired) === true ? value : undefined
}

function hasFields({ kind, fields }: Field): boolean {
  return kind === 'object' && fields !== undefined && fields.length > 0
}

export function leafKey(path: Leaf['path']): string {
  return JSON.stringify(path)
}

export function leafName({ path }: Leaf): string {
  return path.filter((step) => typeof step === 'string').join('.')
}

/** The words of its name and, for hints only, of its description. */
export function leafWords({ field }: Leaf): readonly string[] {
  return nameWords(field.name)
}

/** Takes a file's or a folder's name. */
export function isPathLike({ field }: Leaf): boolean {
  if (field.format === 'uri' || field.format === 'url') return false
  return /\b(?:path|paths|file|files|filename|filenames|dir|folder|directory)\b/.test(
    nameWords(field.name).join(' '),
  )
}

/** Takes a pattern of file names. */
export function isPatternLike({ field }: Leaf): boolean {
  return /\b(?:pattern|patterns|glob|globs|mask)\b/.test(nameWords(field.name).join(' '))
}

export function isUrlLike({ field }: Leaf): boolean {
  if (field.format !== undefined) return /^(?:uri|url|iri)/.test(field.format)
  return /\b(?:url|urls|uri|uris|link|website|webpage)\b/.test(nameWords(field.name).join(' '))
}

/** Takes whole sentences rather than a name or a place. */
export function isFreeText({ field }: Leaf): boolean {
  return /\b(?:message|text|content|contents|body|prompt|input|note|comment|title|sentence|question|query|command|code|expression|topic|subject|description|summary|term|terms|string)\b/.test(
    nameWords(field.name).join(' '),
  )
}
