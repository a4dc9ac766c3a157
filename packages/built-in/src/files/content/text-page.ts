/** The bytes of the longest character in UTF-8. A page of fewer could be empty. */
export const MAX_CHARACTER_BYTES = 4

/**
 * The text of a page of a file, without the part of a character at its end; undefined when the bytes are no text in UTF-8. A
 * byte order mark is kept, so that a file that is read and written does not change.
 */
export function decodePage(
  bytes: Uint8Array,
  isLastPage: boolean,
): { readonly text: string; readonly length: number } | undefined {
  if (bytes.includes(0)) return undefined
  const length = isLastPage ? bytes.length : endOfCharacters(bytes)
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(bytes.subarray(0, length)), length }
  } catch {
    // The bytes are no text, which is an answer.
    return undefined
  }
}

/** Whether a page would begin within a character. */
export function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}

function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isWithinCharacter(byte)) continue
    const needed = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
