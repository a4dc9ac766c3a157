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

/** A copy of `root` with `value` at `path`, or without what stands there when it is undefined. */
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
