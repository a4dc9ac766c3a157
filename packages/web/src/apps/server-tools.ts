import type { Tool } from '@mcp-host/client'
import { host } from '../state/host.ts'

/** A list is asked for again after this time. */
const KEPT_MS = 60_000
/** A list that lacks a tool, or that could not be read, is asked for again after this time. */
const PAUSE_MS = 5_000

interface Kept {
  readonly tools: Promise<readonly Tool[]>
  readonly since: number
}

/** The tools of each server. */
const lists = new Map<string, Kept>()

/** A tool of a server, as the server describes it; `undefined` when it has no such tool for this user. */
export async function findTool(server: string, name: string): Promise<Tool | undefined> {
  const isNamed = (tool: Tool): boolean => tool.name === name
  const found = (await toolsOf(server, KEPT_MS)).find(isNamed)
  return found ?? (await toolsOf(server, PAUSE_MS)).find(isNamed)
}

function toolsOf(server: string, maxAgeMs: number): Promise<readonly Tool[]> {
  const known = lists.get(server)
  if (known !== undefined && performance.now() - known.since < maxAgeMs) return known.tools
  const tools = host.tools(server)
  lists.set(server, { tools, since: performance.now() })
  // The callers get the error.
  tools.catch(() => {
    if (lists.get(server)?.tools !== tools) return
    lists.set(server, { tools, since: performance.now() - KEPT_MS + PAUSE_MS })
  })
  return tools
}
