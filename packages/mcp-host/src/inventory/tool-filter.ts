import type { ToolFilter } from '../config/mcp-config.ts'
import { matchesParts } from '../names/wildcard.ts'

/** Whether callers may use a tool: it matches `allow`, where there is one, and not `deny`. */
export function isAllowed({ allow, deny = [] }: ToolFilter, tool: string): boolean {
  const matches = (pattern: string): boolean => matchesParts(pattern.split('*'), tool)
  return (allow === undefined || allow.some(matches)) && !deny.some(matches)
}
