/**
 * The text of a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it. The mark is left out, so that it
 * does not count as a column.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes
  const isLittle = first === 0xff && second === 0xfe
  const isBig = first === 0xfe && second === 0xff
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes)
}
