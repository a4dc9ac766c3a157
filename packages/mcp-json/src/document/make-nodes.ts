import type { Node } from 'jsonc-parser'

import type { Range } from './fault-list.ts'

type ScalarType = 'string' | 'number' | 'boolean' | 'null'

/** A node of the tree that `parseTree` of jsonc-parser returns, with the place of other text. */
export function nodeOf(type: 'object' | 'array', place: Range, children: readonly Node[]): Node
export function nodeOf(type: ScalarType, place: Range, value: unknown): Node
export function nodeOf(type: Node['type'], { offset, length }: Range, content: unknown): Node {
  if (!Array.isArray(content)) return { type, offset, length, value: content }
  // The content of objects and lists has nodes alone.
  const node: Node = { type, offset, length, children: content as Node[] }
  for (const child of node.children ?? []) setParent(child, node)
  return node
}

/** A property of an object, from its key to the end of its value. */
export function propertyOf(name: string, key: Range, value: Node): Node {
  const { offset } = key
  const length = Math.max(key.offset + key.length, value.offset + value.length) - offset
  const node: Node = { type: 'property', offset, length, children: [] }
  const keyNode: Node = { type: 'string', ...key, value: name, parent: node }
  setParent(value, node)
  node.children?.push(keyNode, value)
  return node
}

/** The type of a node lets nobody but its parser set the parent. */
function setParent(child: Node, parent: Node): void {
  Object.assign(child, { parent })
}
