/**
 * Why a text file could not be read, as the end of a sentence about it. The path is omitted, since it may contain the
 * value of a variable.
 */
export function readFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return 'is no text in UTF-8 or UTF-16; save it as UTF-8'
  }
  return `cannot be read (${code})`
}
