// The measured server over HTTP, at the port of the first argument.
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createEchoServer } from '../host/create-echo-server.ts'

const serve = toNodeHandler(createMcpHandler(createEchoServer))
// Requests that a server receives have a method and a URL.
createServer(serve as unknown as RequestListener).listen(Number(process.argv[2]), '127.0.0.1')
