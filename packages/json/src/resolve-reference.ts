import { ownValue } from './own-value.ts'

/** The part of a JSON document that a local reference such as `#/$defs/Colour` names; `undefined` when there is none. */
export function resolveReference(root: unknown, reference: string): unknown {
  const [empty, ...keys] = reference.split('/')
  let found = empty === '#' ? root : undefined
  for (const key of keys) {
    const name = decoded(key)?.replaceAll('~1', '/').replaceAll('~0', '~')
    const isInner = name !== undefined && typeof found === 'object' && found !== null
    // Lists have their items by name, too.
    found = isInner ? ownValue(found as Readonly<Record<string, unknown>>, name) : undefined
  }
  return found
}

function decoded(key: string): string | undefined {
  try {
    return decodeURIComponent(key)
  } catch {
    // The reference is no URI, so it names nothing.
    return undefined
  }
}
