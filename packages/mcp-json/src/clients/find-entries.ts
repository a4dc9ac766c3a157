import type { Node } from 'jsonc-parser'

import type { FaultList } from '../document/fault-list.ts'
import {
  fieldPath,
  type Member,
  memberOffset,
  membersOf,
  memberValue,
} from '../document/json-tree.ts'
import { mapNames, type NameInFile } from './map-names.ts'
import { McpFile } from '../mcp-file.ts'
import { checkServerName } from './server-name.ts'

interface Entry {
  readonly name: string
  /** The path of the entry, such as `servers.web`, or `servers[0]` in a list. */
  readonly path: string
  readonly node: Node
}

/** One server of the file, before its fields are read. */
export interface FoundEntry extends Entry {
  /** The name in the file, which may be invalid. */
  readonly nameInFile: string
  readonly isDisabled: boolean
}

const REMEDY = 'Write { "servers": { "name": { "command": "…" } } }.'

/** Finds all servers of the file, in its order. Adds wrong and repeated names to the faults. */
export function findEntries(
  root: Node,
  faults: FaultList,
  reservedNames: readonly string[],
): readonly FoundEntry[] {
  const named = findGroups(root, faults).flatMap(({ key, value }) =>
    value.type === 'array' ? inList(value, key, faults) : inRecord(value, key, faults),
  )
  const first = new Map<string, string>()
  for (const { name, path, nameOffset, namePath, isBuiltIn } of named) {
    const other = first.get(name)
    if (other !== undefined) {
      const message = `is there twice, first as ${other}`
      faults.add(nameOffset, namePath, message, 'Rename or remove one of the two.')
    }
    first.set(name, other ?? path)
    const fault = checkServerName(name, isBuiltIn ? [] : reservedNames)
    // Otherwise the server gets another name.
    if (fault === undefined || !faults.isStrict) continue
    faults.add(nameOffset, namePath, fault.message, fault.remedy)
  }
  const names = faults.isStrict ? [] : mapNames(named, reservedNames, faults)
  return named.map(({ name: nameInFile, path, node }, index) => {
    const name = names[index] ?? nameInFile
    return { name, nameInFile, path, node, isDisabled: isDisabled(node, faults) }
  })
}

/** Other clients write `"enabled": false`. */
function isDisabled(node: Node, { isStrict }: FaultList): boolean {
  const [disabled, enabled] = [memberValue(node, 'disabled'), memberValue(node, 'enabled')]
  if (disabled === true) return true
  return !isStrict && (disabled === 'true' || enabled === false || enabled === 'false')
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

function inRecord(
  group: Node,
  groupPath: string,
  faults: FaultList,
): readonly (Entry & NameInFile)[] {
  return membersOf(group).map(({ key: name, offset, value: node }) => {
    const path = fieldPath(groupPath, name)
    const id = memberValue(node, 'id')
    if (id !== undefined && id !== name) {
      const remedy = `Write "id": ${JSON.stringify(name)}, or leave it out.`
      const message = 'differs from the key of the server'
      faults.add(memberOffset(node, 'id'), fieldPath(path, 'id'), message, remedy)
    }
    const isBuiltIn = memberValue(node, 'builtIn') === name
    return { name, path, node, nameOffset: offset, namePath: path, isBuiltIn }
  })
}

function inList(
  group: Node,
  groupPath: string,
  faults: FaultList,
): readonly (Entry & NameInFile)[] {
  return (group.children ?? []).flatMap((node, index) => {
    const path = fieldPath(groupPath, index)
    const namePath = fieldPath(path, 'id')
    const remedy = 'Write { "id": "name", "command": "…" }.'
    if (node.type !== 'object') {
      faults.add(node.offset, path, 'must be an object', remedy)
      return []
    }
    const id = memberValue(node, 'id')
    const nameOffset = memberOffset(node, 'id')
    if (typeof id !== 'string') {
      const message = id === undefined ? 'is missing' : 'must be a string'
      faults.add(nameOffset, namePath, message, remedy)
    }
    // A server without a name is read too, to report its other faults.
    const name = typeof id === 'string' ? id : ''
    return {
      name,
      path,
      node,
      nameOffset,
      namePath,
      isBuiltIn: memberValue(node, 'builtIn') === name,
    }
  })
}
