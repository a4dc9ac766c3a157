/** The part of a page in which it may name its charset. */
const HEAD_BYTES = 4096

/** The text of a page, by its byte order mark, the charset of its header, or the one that it names itself. */
export function decodePage(bytes: Uint8Array, contentType: string): string {
  const named = /;\s*charset\s*=\s*["']?([^"'\s;]+)/i.exec(contentType)?.[1]
  return decode(bytes, byteOrderMark(bytes) ?? named ?? charsetInside(bytes))
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
}

function charsetInside(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES))
  const inMeta = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1]
  const named = inMeta ?? /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1]
  // A page whose ASCII can be read is not in UTF-16.
  return named !== undefined && /^utf-?16/i.test(named) ? 'utf-8' : named
}

function decode(bytes: Uint8Array, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // No browser knows the charset either, so it is most likely a misspelt UTF-8.
    return new TextDecoder().decode(bytes)
  }
}
