// The measured server over stdio.
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createEchoServer } from './create-echo-server.ts'

await createEchoServer().connect(new StdioServerTransport())
