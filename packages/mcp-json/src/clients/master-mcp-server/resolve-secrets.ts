import { getNodeValue } from 'jsonc-parser'

import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { nodeOf, propertyOf } from '../../document/make-nodes.ts'
import { refuse, type Written } from './draft.ts'

const VARIABLE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/

/** A copy of a value in which `env:NAME` is `${env:NAME}`. Adds encrypted values to the faults. */
export function resolveSecrets(written: Written, faults: FaultList): Written {
  const { node, path } = written
  if (node.type === 'object') {
    const properties = membersOf(node).map(({ key, offset, value }) => {
      const copy = resolveSecrets({ node: value, path: fieldPath(path, key) }, faults)
      return propertyOf(key, { offset, length: 1 }, copy.node)
    })
    return { path, node: nodeOf('object', node, properties) }
  }
  if (node.type === 'array') {
    const items = (node.children ?? []).map((item, index) => {
      return resolveSecrets({ node: item, path: fieldPath(path, index) }, faults).node
    })
    return { path, node: nodeOf('array', node, items) }
  }
  const value: unknown = getNodeValue(node)
  if (typeof value !== 'string') return { path, node: { ...node } }
  if (value.startsWith('enc:gcm:')) {
    const message = 'is encrypted with a key of Master MCP Server'
    refuse(faults, written, message, 'Put the value into a variable, and write "env:NAME".')
  }
  return { path, node: nodeOf('string', node, value.replace(VARIABLE, '${env:$1}')) }
}
