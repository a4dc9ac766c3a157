import { findNodeAtLocation, type Node } from 'jsonc-parser'

import type { FaultList } from './document/fault-list.ts'
import { remedyOf, type Problem } from './document/find-problems.ts'
import { fieldPath } from './document/json-tree.ts'
import type { ServerConfig } from '@mcp-host/upstream'
import { foreignFields } from './entries/common-fields.ts'
import { ENTRY_KINDS } from './entries/index.ts'
import { typesHint, typesWith } from './server-kind.ts'

export interface ProblemContext {
  /** The server's object. */
  readonly node: Node
  readonly path: string
  readonly kind: ServerConfig['type']
  readonly faults: FaultList
  /** See `OwnFields`. */
  readonly renamed: ReadonlyMap<string, string>
}

/** Adds a problem to the faults, with its place in the file and a remedy. */
export function addProblem(
  problem: Problem,
  { node, path, kind, faults, renamed }: ProblemContext,
): void {
  const [key = '', ...inner] = problem.path.map((step) =>
    typeof step === 'symbol' ? String(step) : step,
  )
  const steps = [renamed.get(String(key)) ?? key, ...inner]
  const field = steps.reduce(fieldPath, path)
  const found = findNodeAtLocation(node, steps)
  const { message, remedy } = explain(problem, kind)
  if (found === undefined) {
    const parent = findNodeAtLocation(node, steps.slice(0, -1)) ?? node
    return faults.add(parent.offset, field, message, remedy)
  }
  if (problem.isAboutKey) {
    const offset = found.parent?.offset ?? found.offset
    if (inner.length > 0 || faults.isStrict) return faults.add(offset, field, message, remedy)
    return faults.tolerate(offset, field, `${message} and is ignored`, 'Remove or rename it.')
  }
  const isExpanded = typeof found.value === 'string' && found.value.includes('${')
  const when = isExpanded ? ' once its variables are filled in' : ''
  return faults.add(found.offset, field, `${message}${when}`, remedy)
}

function explain(
  { path, isAboutKey, message }: Problem,
  kind: ServerConfig['type'],
): { message: string; remedy: string } {
  const [field = '', ...inner] = path
  const { entry } = ENTRY_KINDS[kind]
  const remedy = remedyOf(entry, field)
  if (field === 'type' && remedy !== undefined) {
    return { message: typesHint({ isInFile: true }), remedy }
  }
  if (remedy !== undefined) return { message, remedy }
  if (!isAboutKey || inner.length > 0) return { message, remedy: 'Remove it.' }
  const other = typesWith(field)
  if (other !== undefined) {
    return {
      message: `is for servers of type ${other.types} only`,
      remedy: `Remove it, or ${other.remedy}.`,
    }
  }
  const known = Object.keys(entry.shape).filter((key) => !Object.hasOwn(foreignFields, key))
  return { message, remedy: `Remove it, or use one of ${known.join(', ')}.` }
}
