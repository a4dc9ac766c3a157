import type { ToolFilter } from '../config/mcp-config.ts'
import { matchesParts } from '../names/wildcard.ts'

/** Whether a tool exists for callers: it is allowed, or nothing is said of that, and not denied. */
export function isAllowed({ allow, deny = [] }: ToolFilter, tool: string): boolean {
  const matches = (pattern: string): boolean => matchesParts(pattern.split('*'), tool)
  return (allow === undefined || allow.some(matches)) && !deny.some(matches)
}
