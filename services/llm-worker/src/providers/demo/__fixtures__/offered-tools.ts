import { readFileSync } from 'node:fs'
import type { OfferedTool } from '@mcp-host/contracts'

interface RecordedServer {
  readonly server: string
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly inputSchema: OfferedTool['inputSchema']
  }[]
}

/**
 * What @modelcontextprotocol/server-filesystem and server-everything (both 2026.8.31) answered to
 * `tools/list`, as the host offers it to a model.
 */
export function recordedTools(): OfferedTool[] {
  const url = new URL('tools-list.json', import.meta.url)
  const servers = JSON.parse(readFileSync(url, 'utf8')) as RecordedServer[]
  return servers.flatMap(({ server, tools }) =>
    tools.map(({ name, description, inputSchema }) => ({
      safeName: `${server}__${name}`,
      server,
      tool: name,
      description,
      inputSchema,
    })),
  )
}

type Properties = Record<string, OfferedTool['inputSchema']>

/** A tool as a test needs it; all its arguments are required unless said otherwise. */
export function offeredTool(
  tool: string,
  properties: Properties,
  { required = Object.keys(properties), description = '' } = {},
): OfferedTool {
  return {
    safeName: `test__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`,
    server: 'test',
    tool,
    description,
    inputSchema: { type: 'object', properties, required },
  }
}
