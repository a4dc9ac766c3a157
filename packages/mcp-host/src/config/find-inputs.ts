import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'

/** A value that VS Code asks its user for: an entry of `inputs`, which `${input:id}` refers to. */
export interface ConfigInput {
  readonly id: string
  /** The question, in words. */
  readonly description?: string
  readonly default?: string
  /** Whether to hide what is typed. */
  readonly password?: boolean
  /** The values to choose from, where it is a choice. */
  readonly options?: readonly string[]
}

/** The entries of `inputs` that have an id, by it; malformed fields are left out. */
export function declaredInputs(root: Node): ReadonlyMap<string, ConfigInput> {
  const node = findNodeAtLocation(root, ['inputs'])
  const list: unknown = node === undefined ? [] : getNodeValue(node)
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

/** An option is a text, or has one as its `value`. */
function valueOf(option: unknown): string[] {
  const value: unknown = typeof option === 'string' ? option : Object(option).value
  return typeof value === 'string' ? [value] : []
}

/** The ids that texts below a node refer to, as in `${input:token}`. */
export function referredInputs(node: Node): readonly string[] {
  const value: unknown = node.type === 'string' ? getNodeValue(node) : undefined
  if (typeof value !== 'string') return (node.children ?? []).flatMap(referredInputs)
  return Array.from(value.matchAll(/\$\{input:([^}]+)\}/g), ([, id = '']) => id)
}
