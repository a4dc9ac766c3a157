/**
 * The path of the argument with a NUL character in a string or key; undefined when there is none. C libraries cut such
 * strings, which makes checks of the whole string useless. The arguments must not be nested too deep.
 */
export function findNul(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return value.includes('\0') ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, item] of Object.entries(value)) {
    if (key.includes('\0')) return path
    const step = Array.isArray(value) ? `[${key}]` : path === '' ? key : `.${key}`
    const found = findNul(item, `${path}${step}`)
    if (found !== undefined) return found
  }
  return undefined
}
