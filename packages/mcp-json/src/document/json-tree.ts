import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'

/** One `"key": value` of an object in the file. */
export interface Member {
  readonly key: string
  /** The offset of the key. */
  readonly offset: number
  readonly value: Node
}

/** The members of an object that have a value, with duplicates; none for other nodes. */
export function membersOf(node: Node): readonly Member[] {
  if (node.type !== 'object') return []
  return (node.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? []
    if (key === undefined || value === undefined) return []
    return [{ key: String(getNodeValue(key)), offset: key.offset, value }]
  })
}

/** The value of a member of an object; undefined when it is missing. */
export function memberValue(node: Node, key: string): unknown {
  const member = findNodeAtLocation(node, [key])
  return member && getNodeValue(member)
}

/** The offset of a member's value; that of the object when it is missing. */
export function memberOffset(node: Node, key: string): number {
  return (findNodeAtLocation(node, [key]) ?? node).offset
}

/** The path of a field in the form `servers.web.args[1]`. */
export function fieldPath(parent: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${parent}[${step}]`
  return parent === '' ? String(step) : `${parent}.${String(step)}`
}
