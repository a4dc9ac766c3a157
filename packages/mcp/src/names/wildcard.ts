/**
 * Whether `text` consists of these parts in this order, with anything between them. Without backtracking, since the
 * parts may come from a server.
 */
export function matchesParts(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return first === text
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= end
}
