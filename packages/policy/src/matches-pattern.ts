/**
 * Whether a text matches a pattern in which `*` stands for any characters. Takes linear time, because the text may be
 * an argument that a model or client wrote.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return text === pattern
  if (star === pattern.length - 1) return text.startsWith(pattern.slice(0, star))
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop() ?? ''
  if (text.length < first.length + last.length) return false
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
