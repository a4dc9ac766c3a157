import type { OfferedTool } from '@mcp-host/contracts'
import { chooseTool } from './choosing/choose-tool.ts'
import type { Choice } from './choosing/choose-tool.ts'
import { indexTools } from './choosing/tool-index.ts'
import { readClause } from './reading/clause.ts'
import { splitClauses } from './reading/split-clauses.ts'

/** One clause of the user's message and what to do about it. */
export interface PlannedStep {
  readonly clause: string
  readonly choice: Choice
}

const MAX_STEPS = 16

/** Longer messages are cut: understanding them would hold up the event loop. */
const LONGEST_MESSAGE = 8_000

/** The same message and tools always give the same plan, so it need not be remembered between calls. */
export function planSteps(text: string, tools: readonly OfferedTool[]): PlannedStep[] {
  const index = indexTools(tools)
  const clauses = splitClauses(text.slice(0, LONGEST_MESSAGE)).slice(0, MAX_STEPS)
  return clauses.map((clause) => ({ clause, choice: chooseTool(readClause(clause), index) }))
}
