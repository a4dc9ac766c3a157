import type { OfferedTool } from '@mcp-host/contracts'
import { fillArguments } from '../filling/fill-arguments.ts'
import type { FilledArguments } from '../filling/fill-arguments.ts'
import type { Clause } from '../reading/clause.ts'
import { readQuery, scoreTool } from './score-tool.ts'
import type { Match } from './score-tool.ts'
import type { ToolIndex } from './tool-index.ts'

export type Choice =
  | {
      readonly kind: 'call'
      readonly tool: OfferedTool
      readonly arguments: FilledArguments['arguments']
      readonly matches: readonly Match[]
      readonly isNamed: boolean
    }
  /** The tool is clear, what to give it is not. */
  | { readonly kind: 'incomplete'; readonly tool: OfferedTool; readonly missing: readonly string[] }
  | { readonly kind: 'none' }

/** Below this the words fit by chance. */
const THRESHOLD = 1.5

/** So many of the best by their words are looked at closer. */
const CANDIDATES = 20

export function chooseTool(clause: Clause, index: ToolIndex): Choice {
  const query = readQuery(clause)
  const candidates = index.tools
    .map((tool) => scoreTool(query, tool, index))
    .filter(({ score, hasEvidence }) => hasEvidence && score >= THRESHOLD)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, CANDIDATES)
    .map((scored) => {
      const { inputSchema } = scored.tool.offered
      return { ...scored, filled: fillArguments(clause, inputSchema, scored.nameSpans) }
    })
  const best = candidates
    .filter(({ filled }) => filled.missing.length === 0)
    .toSorted(
      (one, other) => other.score + other.filled.quality - one.score - one.filled.quality,
    )[0]
  const named = candidates.find(({ isNamed }) => isNamed)
  if (named !== undefined && (best === undefined || !best.isNamed)) {
    return { kind: 'incomplete', tool: named.tool.offered, missing: named.filled.missing }
  }
  if (best === undefined) return { kind: 'none' }
  const { tool, matches, isNamed, filled } = best
  return { kind: 'call', tool: tool.offered, arguments: filled.arguments, matches, isNamed }
}
