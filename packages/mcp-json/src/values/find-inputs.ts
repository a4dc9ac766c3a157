import { getNodeValue, type Node } from 'jsonc-parser'

import { memberValue } from '../document/json-tree.ts'

/** A value for which VS Code asks its user: an entry of `inputs`, to which `${input:id}` refers. */
export interface ConfigInput {
  readonly id: string
  /** The question, in words. */
  readonly description?: string
  readonly default?: string
  /** Whether to hide the input. */
  readonly password?: boolean
  /** The values to choose from, if the input is a choice. */
  readonly options?: readonly string[]
}

/** The entries of `inputs` by their ids, without malformed fields. */
export function declaredInputs(root: Node): ReadonlyMap<string, ConfigInput> {
  const list = memberValue(root, 'inputs')
  const inputs = (Array.isArray(list) ? list : []).flatMap((entry): [string, ConfigInput][] => {
    const { id, description, default: preset, password, options } = Object(entry)
    if (typeof id !== 'string') return []
    const input = {
      id,
      ...(typeof description === 'string' ? { description } : {}),
      ...(typeof preset === 'string' ? { default: preset } : {}),
      ...(typeof password === 'boolean' ? { password } : {}),
      ...(Array.isArray(options) ? { options: options.flatMap(valueOf) } : {}),
    }
    return [[id, input]]
  })
  return new Map(inputs)
}

/** The value of an option, which is a string or has a `value`. */
function valueOf(option: unknown): string[] {
  const value: unknown = typeof option === 'string' ? option : Object(option).value
  return typeof value === 'string' ? [value] : []
}

/** The ids that strings below a node refer to, as in `${input:token}`. */
export function referredInputs(node: Node): readonly string[] {
  const value: unknown = node.type === 'string' ? getNodeValue(node) : undefined
  if (typeof value !== 'string') return (node.children ?? []).flatMap(referredInputs)
  return Array.from(value.matchAll(/\$\{input:([^}]+)\}/g), ([, id = '']) => id)
}
