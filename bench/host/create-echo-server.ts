import { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** A server on the SDK with one tool, `echo`. */
export function createEchoServer(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' })
  server.registerTool(
    'echo',
    {
      description: 'Returns the text.',
      inputSchema: z.object({ text: z.string(), times: z.number().int().optional() }),
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  return server
}
