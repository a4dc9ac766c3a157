import type { Node } from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'
import { fieldPath, membersOf } from './json-tree.ts'

/** Adds a fault for every key that an object has twice, of which a JSON parser would silently drop the first. */
export function findDuplicateKeys(node: Node, path: string, faults: FaultList): void {
  const seen = new Set<string>()
  for (const { key, offset, value } of membersOf(node)) {
    const keyPath = fieldPath(path, key)
    if (seen.has(key)) {
      faults.add(offset, keyPath, 'is there twice', 'Rename or remove one of the two.')
    }
    seen.add(key)
    findDuplicateKeys(value, keyPath, faults)
  }
  if (node.type !== 'array') return
  for (const [index, item] of (node.children ?? []).entries()) {
    findDuplicateKeys(item, fieldPath(path, index), faults)
  }
}
