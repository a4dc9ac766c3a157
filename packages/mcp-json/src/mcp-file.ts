import * as z from 'zod'

import { ENTRY_KINDS } from './entries/index.ts'
import { explained, foreign } from './server-fields.ts'

const kinds = Object.values(ENTRY_KINDS).filter(({ isCode }) => isCode !== true)
const ServerEntry = z.union([...new Set(kinds.map(({ entry }) => entry))])
const group = explained(
  z
    .union([
      z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), ServerEntry),
      z.array(ServerEntry.and(z.looseObject({ id: z.string() }))),
    ])
    .meta({ id: 'Servers' })
    .exactOptional(),
  'The servers by name, or a list of servers with an "id" each.',
  { web: { command: 'node', args: ['server.js'] } },
)

/** The schema of the whole file, from which its JSON Schema is generated. */
export const McpFile = z
  .strictObject({
    $schema: z.string().exactOptional(),
    servers: group,
    mcpServers: group,
    inputs: foreign,
    llm: explained(
      z.unknown().optional(),
      'The model that answers in `npm start`: type, api_key, model and system_prompt. Settings of the environment come first; a key belongs there.',
      { type: 'gemini', model: 'gemini-flash-latest' },
    ),
    max_tool_calls: explained(
      z.unknown().optional(),
      'How many tool calls one turn may make in `npm start`; the setting MAX_TOOL_CALLS comes first.',
      25,
    ),
    maxToolCalls: explained(z.unknown().optional(), 'As max_tool_calls.', 25),
  })
  .meta({
    title: 'MCP servers of mcp-host (mcp.json)',
    anyOf: [{ required: ['servers'] }, { required: ['mcpServers'] }],
    // Read by editors.
    allowComments: true,
    allowTrailingCommas: true,
  })
