import { comparable } from './comparable.ts'
import { matchesParts } from './wildcard.ts'

/** Names of tools; `*` stands for any characters. `deny` wins over `allow`. */
export interface ToolFilter {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** Whether callers may use a tool: it matches `allow`, where there is one, and not `deny`. */
export function isAllowed({ allow, deny = [] }: ToolFilter, tool: string): boolean {
  const name = comparable(tool)
  const matches = (pattern: string): boolean => matchesParts(comparable(pattern).split('*'), name)
  return (allow === undefined || allow.some(matches)) && !deny.some(matches)
}
