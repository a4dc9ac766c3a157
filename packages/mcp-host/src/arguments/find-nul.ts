/**
 * The first string, or key, with a NUL character in it, as the path of its argument; undefined
 * when there is none. Such strings are cut short by C libraries, past any check made before.
 */
export function findNul(args: Readonly<Record<string, unknown>>): string | undefined {
  // A list of things to visit instead of recursion: depth is the caller's choice.
  const open: { path: string; value: unknown }[] = [{ path: '', value: args }]
  const seen = new Set<object>()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next
    if (typeof value === 'string' && value.includes('\0')) return path
    if (typeof value === 'object' && value !== null) {
      // Circular values are refused elsewhere, since they cannot be sent.
      if (seen.has(value)) continue
      seen.add(value)
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        open.push({ path: `${path}[${index}]`, value: item })
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key.includes('\0')) return path
        open.push({ path: path === '' ? key : `${path}.${key}`, value: item })
      }
    }
  }
  return undefined
}
