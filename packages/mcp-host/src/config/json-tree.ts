import { getNodeValue, type Node } from 'jsonc-parser'

/** One `"key": value` of an object in the file. */
export interface Member {
  readonly key: string
  /** The offset of the key. */
  readonly offset: number
  readonly value: Node
}

/** The members of an object with a value, duplicates included; empty for anything else. */
export function membersOf(node: Node): readonly Member[] {
  if (node.type !== 'object') return []
  return (node.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? []
    if (key === undefined || value === undefined) return []
    return [{ key: String(getNodeValue(key)), offset: key.offset, value }]
  })
}

/** The path of a field as people write it: `servers.web.args[1]`. */
export function fieldPath(parent: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${parent}[${step}]`
  return parent === '' ? String(step) : `${parent}.${String(step)}`
}
