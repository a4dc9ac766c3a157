import { getNodeValue } from 'jsonc-parser'

import { Draft } from './draft.ts'

/**
 * Merges remote servers with the same `id` into one with `instances`, which share its requests. Servers that differ in
 * more than their address stay, and their name is a fault.
 */
export function mergeInstances(drafts: readonly Draft[]): readonly Draft[] {
  const groups = Map.groupBy(drafts, (draft) => {
    const id = draft.get('id')
    return draft.get('url') === undefined || id === undefined ? draft : getNodeValue(id)
  })
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const isOne = new Set(group.map((draft) => draft.textWithout('id', 'url', 'type'))).size === 1
    if (first === undefined || group.length === 1 || !isOne) return group
    const instances = group.flatMap((draft) => {
      const url = draft.get('url')
      if (url === undefined) return []
      const instance = new Draft(draft.written)
      instance.put('url', { ...url }, draft.pathOf('url'))
      return [instance]
    })
    // Otherwise a fault of another server would count as one of this server.
    const last = group.at(-1)
    const isAdjacent =
      drafts.indexOf(first) + group.length - 1 === drafts.findLastIndex((draft) => draft === last)
    if (last !== undefined && isAdjacent) first.extendTo(last)
    first.putObjects('instances', instances, first.written)
    return [first]
  })
}
