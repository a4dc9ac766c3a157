/**
 * The text of a file that people write: UTF-8, or UTF-16 as PowerShell writes it, also without a byte order mark. The
 * mark is left out, so that it belongs to no name and does not count as a column. Throws when the bytes are no such
 * text, unless `fatal` is false.
 */
export function decodeText(bytes: Uint8Array, { fatal = true } = {}): string {
  const [first, second] = bytes
  // The first character of a file of settings is in ASCII.
  const isLittle = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0)
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0)
  const encoding = isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding, { fatal }).decode(bytes)
}
