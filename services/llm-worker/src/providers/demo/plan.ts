import type { OfferedTool } from '@mcp-host/contracts'
import type { Choice } from './choose-tool.ts'
import { chooseTool } from './choose-tool.ts'
import { readClauses, textOf } from './sentence.ts'

/** One clause of the user's message and the tool for it. */
export interface PlannedStep {
  readonly clause: string
  readonly choice: Choice
}

/** Depends on the message and the tools alone, so that each generation of a turn has the same plan. */
export function planSteps(text: string, tools: readonly OfferedTool[]): PlannedStep[] {
  return readClauses(text).map((clause) => ({
    clause: textOf(clause, { from: 0, to: clause.tokens.length }),
    choice: chooseTool(clause, tools),
  }))
}
