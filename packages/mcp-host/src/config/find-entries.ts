import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'
import { fieldPath, type Member, membersOf } from './json-tree.ts'
import { mapNames } from './map-names.ts'
import { McpFile } from './server-entry.ts'
import { checkServerName } from './server-name.ts'

/** One server of the file, before its fields are looked at. */
export interface FoundEntry {
  readonly name: string
  /** The name in the file, where no server can have that one. */
  readonly givenName: string
  /** As in `servers.web`, or `servers[0]` in a list. */
  readonly path: string
  readonly node: Node
  readonly isDisabled: boolean
}

interface Named extends Omit<FoundEntry, 'isDisabled' | 'givenName'> {
  /** The offset of the name, and its field. */
  readonly nameOffset: number
  readonly namePath: string
}

const REMEDY = 'Write { "servers": { "name": { "command": "…" } } }.'

/** Finds all servers of the file, in its order; wrong and repeated names are in the faults then. */
export function findEntries(
  root: Node,
  faults: FaultList,
  reservedNames: readonly string[],
): readonly FoundEntry[] {
  const named = findGroups(root, faults).flatMap(({ key, value }) =>
    value.type === 'array' ? inList(value, key, faults) : inRecord(value, key, faults),
  )
  const first = new Map<string, string>()
  for (const { name, path, nameOffset, namePath } of named) {
    const other = first.get(name)
    if (other !== undefined) {
      const message = `is there twice, first as ${other}`
      faults.add(nameOffset, namePath, message, 'Rename or remove one of the two.')
    }
    first.set(name, other ?? path)
    const fault = checkServerName(name, reservedNames)
    if (fault === undefined || (!faults.isStrict && !reservedNames.includes(name))) continue
    faults.add(nameOffset, namePath, fault.message, fault.remedy)
  }
  const names = faults.isStrict ? [] : mapNames(named, reservedNames, faults)
  return named.map(({ name: givenName, path, node }, index) => {
    const name = names[index] ?? givenName
    return { name, givenName, path, node, isDisabled: isDisabled(node, faults) }
  })
}

/** Other clients write `"enabled": false`. */
function isDisabled(node: Node, { isStrict }: FaultList): boolean {
  const says = (field: string, value: boolean): boolean => {
    const found = findNodeAtLocation(node, [field])
    return found !== undefined && getNodeValue(found) === value
  }
  return says('disabled', true) || (!isStrict && says('enabled', false))
}

function findGroups(root: Node, faults: FaultList): readonly Member[] {
  if (root.type !== 'object') {
    faults.add(root.offset, '', 'must be an object', REMEDY)
    return []
  }
  const members = membersOf(root)
  for (const { key, offset } of members) {
    if (Object.hasOwn(McpFile.shape, key)) continue
    const message = `is not a known field${faults.isStrict ? '' : ' and is ignored'}`
    faults.tolerate(offset, key, message, 'Remove it; servers stand in "servers".')
  }
  const groups = members.filter(({ key }) => key === 'servers' || key === 'mcpServers')
  if (groups.length === 0) faults.add(root.offset, 'servers', 'is missing', REMEDY)
  for (const { key, value } of groups) {
    if (value.type === 'object' || value.type === 'array') continue
    faults.add(value.offset, key, 'must be an object or a list', REMEDY)
  }
  return groups
}

function inRecord(group: Node, groupPath: string, faults: FaultList): readonly Named[] {
  return membersOf(group).map(({ key: name, offset, value: node }) => {
    const path = fieldPath(groupPath, name)
    const id = findNodeAtLocation(node, ['id'])
    if (id !== undefined && getNodeValue(id) !== name) {
      const remedy = `Write "id": ${JSON.stringify(name)}, or leave it out.`
      faults.add(id.offset, fieldPath(path, 'id'), 'differs from the key of the server', remedy)
    }
    return { name, path, node, nameOffset: offset, namePath: path }
  })
}

function inList(group: Node, groupPath: string, faults: FaultList): readonly Named[] {
  return (group.children ?? []).flatMap((node, index) => {
    const path = fieldPath(groupPath, index)
    const namePath = fieldPath(path, 'id')
    const remedy = 'Write { "id": "name", "command": "…" }.'
    if (node.type !== 'object') {
      faults.add(node.offset, path, 'must be an object', remedy)
      return []
    }
    const id = findNodeAtLocation(node, ['id'])
    if (id?.type !== 'string') {
      const message = id === undefined ? 'is missing' : 'must be a string'
      faults.add(id?.offset ?? node.offset, namePath, message, remedy)
    }
    // One without a name is read all the same, for what else may be wrong with it.
    const name = id?.type === 'string' ? String(getNodeValue(id)) : ''
    return { name, path, node, nameOffset: id?.offset ?? node.offset, namePath }
  })
}
