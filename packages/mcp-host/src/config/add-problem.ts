import { findNodeAtLocation, type Node } from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'
import { exampleOf, type Problem } from './find-problems.ts'
import { fieldPath } from './json-tree.ts'
import { entries, foreignFields } from './server-entry.ts'

export interface ProblemContext {
  /** The server's object. */
  readonly node: Node
  readonly path: string
  readonly kind: keyof typeof entries
  readonly faults: FaultList
  /** See `OwnFields`. */
  readonly renamed: ReadonlyMap<string, string>
}

/** Says of a problem where in the file it is and what to write instead. */
export function addProblem(
  problem: Problem,
  { node, path, kind, faults, renamed }: ProblemContext,
): void {
  const [own = '', ...inner] = problem.path.map((step) =>
    typeof step === 'symbol' ? String(step) : step,
  )
  const steps = [renamed.get(String(own)) ?? own, ...inner]
  const field = steps.reduce(fieldPath, path)
  const found = findNodeAtLocation(node, steps)
  const { message, remedy } = explain(problem, kind)
  if (found === undefined) {
    const parent = findNodeAtLocation(node, steps.slice(0, -1)) ?? node
    return faults.add(parent.offset, field, message, remedy)
  }
  if (problem.isAboutKey) {
    const offset = found.parent?.offset ?? found.offset
    if (inner.length > 0) return faults.add(offset, field, message, remedy)
    if (faults.isStrict) return faults.add(offset, field, message, remedy)
    return faults.tolerate(offset, field, `${message} and is ignored`, 'Remove or rename it.')
  }
  const isExpanded = typeof found.value === 'string' && found.value.includes('${')
  const when = isExpanded ? ' once its variables are filled in' : ''
  return faults.add(found.offset, field, `${message}${when}`, remedy)
}

function explain(
  { path, isAboutKey, message }: Problem,
  kind: keyof typeof entries,
): { message: string; remedy: string } {
  const [field, ...inner] = path
  const example = exampleOf(entries[kind], field)
  if (example !== undefined) return { message, remedy: example }
  if (!isAboutKey || inner.length > 0) return { message, remedy: 'Remove it.' }
  const owner = [entries.stdio, entries.http].find(({ shape }) => Object.hasOwn(shape, field ?? ''))
  if (owner === undefined) {
    const known = Object.keys(entries[kind].shape).filter(
      (key) => !Object.hasOwn(foreignFields, key),
    )
    return { message, remedy: `Remove it, or use one of ${known.join(', ')}.` }
  }
  const types = owner === entries.stdio ? '"stdio"' : '"http", "sse" and "websocket"'
  return {
    message: `is for servers of type ${types} only`,
    remedy: `Remove it, or ${owner === entries.stdio ? 'start the server with "command"' : 'give the server a "url"'}.`,
  }
}
