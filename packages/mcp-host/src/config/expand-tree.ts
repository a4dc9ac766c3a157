import { getNodeValue, type Node } from 'jsonc-parser'

import type { Environment } from '../environment.ts'
import { expandVariables } from './expand-variables.ts'
import type { FaultList } from './fault-list.ts'
import { fieldPath, membersOf } from './json-tree.ts'

export interface ExpandContext {
  readonly variables: Environment
  readonly faults: FaultList
}

/** The value of a node with the variables in all its texts filled in, however deep. */
export function expandTree(node: Node, path: string, context: ExpandContext): unknown {
  if (node.type === 'object') {
    const members = membersOf(node).map(({ key, value }): [string, unknown] => [
      key,
      expandTree(value, fieldPath(path, key), context),
    ])
    return Object.fromEntries(members)
  }
  if (node.type === 'array') {
    return (node.children ?? []).map((item, index) =>
      expandTree(item, fieldPath(path, index), context),
    )
  }
  const value: unknown = getNodeValue(node)
  return typeof value === 'string' ? expandText(value, node, path, context) : value
}

function expandText(template: string, node: Node, path: string, context: ExpandContext): string {
  const { variables, faults } = context
  const { text, unset, unknown } = expandVariables(template, variables)
  for (const reference of unknown) {
    faults.add(node.offset, path, `has ${reference}, which is not a variable`, remedyFor(reference))
  }
  if (unset.length > 0) {
    const message = `uses ${unset.join(' and ')}, which ${unset.length === 1 ? 'is' : 'are'} not set`
    faults.add(node.offset, path, message, `Set it, or write \${${unset[0]}:-default}.`)
  }
  return text
}

function remedyFor(reference: string): string {
  if (reference.startsWith('${input:')) {
    return 'Nobody can be asked here: write ${env:NAME}, and set NAME in the environment.'
  }
  return 'Write ${NAME}, ${NAME:-default} or ${env:NAME}.'
}
