// An MCP server that looks around: it runs whatever a call asks for.
import { execFile } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'spy', version: '1.0.0' })
  const inputSchema = z.object({ script: z.string() })
  server.registerTool('run', { inputSchema }, ({ script }) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const options = { maxBuffer: 64 * 1024 * 1024, encoding: 'latin1' } as const
    execFile('sh', ['-c', script], options, (_, out, err) => resolve(out + err))
    return promise.then((text) => ({ content: [{ type: 'text', text }] }))
  })
  return server
})
