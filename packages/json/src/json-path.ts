export type JsonPath = readonly PropertyKey[]

/** The value at `path`; undefined when it is missing. */
export function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

/** The path of a JSON pointer, such as `/tags/0`. */
export function pointerPath(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** A copy of `root` with `value` at `path`. An undefined `value` removes the last key of the path. */
export function withValueAt(root: unknown, [key, ...rest]: JsonPath, value: unknown): unknown {
  if (key === undefined) return value
  const replaced = withValueAt(valueAt(root, [key]), rest, value)
  if (Array.isArray(root)) {
    const index = Number(key)
    return root.toSpliced(index, 1, ...(replaced === undefined ? [] : [replaced]))
  }
  const { [key]: _, ...others } = root as Record<PropertyKey, unknown>
  return replaced === undefined ? others : { ...(root as object), [key]: replaced }
}
