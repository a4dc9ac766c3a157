import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { decodeText } from 'mcp-host/json'
import { isNode, isSeq, parseDocument } from 'yaml'

/**
 * The lines, from 1, at which the elements of a list in a file of settings begin. Empty when the file or the list cannot
 * be read: `readDataFile` says why.
 */
export function elementLines(path: string, list: string): number[] {
  let text: string
  try {
    text = decodeText(readFileSync(path))
  } catch {
    return []
  }
  const isYaml = /^\.ya?ml$/.test(extname(path))
  const offsets = isYaml ? yamlOffsets(text, list) : jsonOffsets(text, list)
  return offsets.map((offset) => text.slice(0, offset).split('\n').length)
}

function jsonOffsets(text: string, list: string): number[] {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const found = tree && findNodeAtLocation(tree, [list])
  return (found?.children ?? []).map(({ offset }) => offset)
}

function yamlOffsets(text: string, list: string): number[] {
  const found = parseDocument(text, { prettyErrors: false }).get(list)
  if (!isSeq(found)) return []
  return found.items.map((item) => (isNode(item) ? (item.range?.[0] ?? 0) : 0))
}
