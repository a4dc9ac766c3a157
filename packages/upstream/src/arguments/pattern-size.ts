/** A class of Unicode takes as long to compile as this many characters. */
const CLASS_CHARACTERS = 100

/**
 * The size of all regular expressions of a schema, in characters: compiling one takes up to 15 µs for each, and much
 * more from some ten thousand on.
 */
export function patternSize(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0
  let size = 0
  for (const [key, value] of Object.entries(schema)) {
    size += patternSize(value)
    if (key === 'pattern' && typeof value === 'string') size += sizeOfPattern(value)
    if (key === 'patternProperties' && typeof value === 'object') {
      for (const pattern of Object.keys(value ?? {})) size += sizeOfPattern(pattern)
    }
  }
  return size
}

function sizeOfPattern(source: string): number {
  const classes = source.match(/\\p\{/gi)?.length ?? 0
  return source.length + classes * CLASS_CHARACTERS
}
