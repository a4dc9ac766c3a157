import { extname } from 'node:path'
import { findNodeAtLocation, getNodeValue, parseTree } from 'jsonc-parser'
import { isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'

type FieldPath = readonly PropertyKey[]

/** Finds fields of a file of settings. A missing field is at the nearest object around it. */
export interface FieldPlaces {
  /** The place of a value. */
  of(path: FieldPath): Place
  /** The place of a key of the object at a path. */
  ofKey(path: FieldPath, key: string): Place
  /** The places of the elements of a list; empty when there is no such list. */
  ofElements(list: string): Place[]
}

/** A place in a text, counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A node of the syntax tree of either language. */
interface TreeNode {
  readonly offset: number
  child(key: PropertyKey): TreeNode | undefined
  /** The offset of one of its keys. */
  keyOffset(key: string): number | undefined
  elements(): readonly TreeNode[]
}

export function isYamlFile(path: string): boolean {
  return /^\.ya?ml$/i.test(extname(path))
}

export function fieldPlaces(text: string, file: string): FieldPlaces {
  const root = isYamlFile(file) ? yamlNode(parseDocument(text).contents) : jsonTree(text)
  const find = (path: FieldPath): TreeNode | undefined => {
    let node = root
    for (const key of path) node = node?.child(key) ?? node
    return node
  }
  return {
    of: (path) => placeAt(text, find(path)?.offset ?? 0),
    ofKey(path, key) {
      const node = find(path)
      return placeAt(text, node?.keyOffset(key) ?? node?.offset ?? 0)
    },
    ofElements: (list) =>
      (root?.child(list)?.elements() ?? []).map(({ offset }) => placeAt(text, offset)),
  }
}

export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

type JsonNode = NonNullable<ReturnType<typeof parseTree>>

function jsonTree(text: string): TreeNode | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  return tree && jsonNode(tree)
}

function jsonNode(node: JsonNode): TreeNode {
  return {
    offset: node.offset,
    child(key) {
      const found = findNodeAtLocation(node, [typeof key === 'number' ? key : String(key)])
      return found && jsonNode(found)
    },
    keyOffset: (key) =>
      (node.children ?? [])
        .map(({ children: [name] = [] }) => name)
        .find((name) => name !== undefined && getNodeValue(name) === key)?.offset,
    elements: () => (node.type === 'array' ? (node.children ?? []) : []).map(jsonNode),
  }
}

function yamlNode(node: unknown): TreeNode | undefined {
  if (!isNode(node)) return undefined
  return {
    offset: node.range?.[0] ?? 0,
    child: (key) => (isMap(node) || isSeq(node) ? yamlNode(node.get(key, true)) : undefined),
    keyOffset(key) {
      const keys: readonly unknown[] = isMap(node) ? node.items.map((pair) => pair.key) : []
      return keys.filter(isScalar).find(({ value }) => String(value) === key)?.range?.[0]
    },
    elements: () => (isSeq(node) ? node.items.flatMap((item) => yamlNode(item) ?? []) : []),
  }
}
