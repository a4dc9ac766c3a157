import { HttpServer } from '../fixtures/http-server.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { text } from '../fixtures/serve.ts'

/** An MCP server at which users log in. Its tool `whoami` tells by whose token it was called. */
export interface LoginServer extends AsyncDisposable {
  readonly issuer: AuthorizationServer
  readonly server: HttpServer
  /** Its entry in `mcp.json`, in place of that of a program. */
  readonly entry: object
}

export async function openLoginServer(
  options?: Parameters<typeof AuthorizationServer.open>[0],
): Promise<LoginServer> {
  const issuer = await AuthorizationServer.open(options)
  const server = await HttpServer.listen({
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'login', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] }),
    async 'tools/call'(_, { response }) {
      const token = String(response.req.headers.authorization).replace('Bearer ', '')
      return text((await issuer.userOf(token)) ?? 'nobody')
    },
  })
  const accepts = (token: string, resource: string) => issuer.accepts(token, resource)
  server.protection = { issuer: issuer.url, scope: 'notes.read', accepts }
  const remote = { type: 'http', url: server.url, auth: { type: 'oauth' } }
  return {
    issuer,
    server,
    entry: { command: undefined, args: undefined, env: undefined, ...remote },
    async [Symbol.asyncDispose]() {
      await server.close()
      await issuer[Symbol.asyncDispose]()
    },
  }
}
