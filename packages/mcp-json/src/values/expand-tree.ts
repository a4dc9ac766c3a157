import { getNodeValue, type Node } from 'jsonc-parser'

import { expandVariables, type Known } from './expand-variables.ts'
import type { FaultList } from '../document/fault-list.ts'
import { fieldPath, membersOf } from '../document/json-tree.ts'
import { ownValue } from '@mcp-host/json'

export interface ExpandContext extends Known {
  /** Receives the expanded values by name. */
  readonly filled: Map<string, string>
  readonly faults: FaultList
}

/** The value of a node with all variables expanded. */
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
  const { faults } = context
  const { text, filled, unset, unknown } = expandVariables(template, context)
  for (const [name, value] of filled) context.filled.set(name, value)
  for (const reference of unknown) {
    faults.add(node.offset, path, `has ${reference}, which is not a variable`, remedyFor(reference))
  }
  if (unset.length > 0) {
    const message = `uses ${unset.join(' and ')}, which ${unset.length === 1 ? 'is' : 'are'} not set`
    faults.add(node.offset, path, message, `Set it, or write \${${unset[0]}:-default}.`)
  }
  return faults.isStrict ? text : expandShellForm(text, node, path, context)
}

/** Expands `$NAME` as the whole text, which Gemini CLI writes. */
function expandShellForm(
  text: string,
  node: Node,
  path: string,
  { variables, filled, faults }: ExpandContext,
): string {
  const [, name] = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? []
  if (name === undefined || node.value !== text) return text
  const value = ownValue(variables, name)
  if (value !== undefined) filled.set(name, value)
  const meaning = value === undefined ? 'the text as it is' : 'the variable'
  const message = `is taken for ${meaning}, because "$" without braces is the form of other clients`
  faults.tolerate(node.offset, path, message, `Write \${${name}} for the variable.`)
  return value ?? text
}

function remedyFor(reference: string): string {
  if (reference.startsWith('${input:')) {
    return 'Nobody was asked for it: write ${env:NAME}, and set NAME in the environment.'
  }
  return 'Write ${NAME}, ${NAME:-default} or ${env:NAME}.'
}
