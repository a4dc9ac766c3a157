// The server that is measured against, over HTTP without anything between: on the SDK.
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' })
  server.registerTool(
    'echo',
    {
      description: 'Says it back.',
      inputSchema: z.object({ text: z.string(), times: z.number().int().optional() }),
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  return server
})
const serve = toNodeHandler(handler)
// A request of a server has a method and a URL.
createServer(serve as unknown as RequestListener).listen(Number(process.argv[2]), '127.0.0.1')
