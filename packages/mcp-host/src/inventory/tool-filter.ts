import type { ToolFilter } from '../config/mcp-config.ts'
import { comparable } from '../names/comparable.ts'
import { matchesParts } from '../names/wildcard.ts'

/** Whether callers may use a tool: it matches `allow`, where there is one, and not `deny`. */
export function isAllowed({ allow, deny = [] }: ToolFilter, tool: string): boolean {
  const name = comparable(tool)
  const matches = (pattern: string): boolean => matchesParts(comparable(pattern).split('*'), name)
  return (allow === undefined || allow.some(matches)) && !deny.some(matches)
}
