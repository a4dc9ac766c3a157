import type { FieldKind } from './field.ts'

const WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** "two" as "2", where a number is wanted. */
export function numberWord(text: string, kind: FieldKind | undefined): string | undefined {
  if (kind !== 'number' && kind !== 'integer') return undefined
  const value = WORDS.indexOf(text.trim().toLowerCase())
  return value < 0 ? undefined : String(value)
}
