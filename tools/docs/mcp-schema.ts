import { z } from 'zod'

import { McpFile } from '@mcp-host/mcp-json'

/** The JSON Schema of an `mcp.json`, for editors. */
export function mcpSchema(): string {
  // Draft 7 is the version that editors support completely.
  const schema = z.toJSONSchema(McpFile, { io: 'input', target: 'draft-7' })
  return `${JSON.stringify(schema, undefined, 2)}\n`
}
