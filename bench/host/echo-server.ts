// The server that is measured against: one tool, on the SDK, over stdio.
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const server = new McpServer({ name: 'echo', version: '1.0.0' })
server.registerTool(
  'echo',
  {
    description: 'Says it back.',
    inputSchema: z.object({ text: z.string(), times: z.number().int().optional() }),
  },
  ({ text }) => ({ content: [{ type: 'text', text }] }),
)
await server.connect(new StdioServerTransport())
