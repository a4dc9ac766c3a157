import { HttpServer } from '../fixtures/http-server.ts'
import { text } from '../fixtures/serve.ts'
import { AuthorizationServer, type AuthorizationServerOptions } from './authorization-server.ts'

/** A call of a tool at a server at which users log in. */
export interface UserCall {
  readonly tool: string
  readonly arguments: unknown
  /** The user of its token. */
  readonly user: string
}

export interface LoginServerOptions extends AuthorizationServerOptions {
  /** The tools. The result of each is the user of the token of the call. Default: `whoami`. */
  readonly tools?: readonly { readonly name: string; readonly inputSchema: object }[]
  /** The delay before each answer. */
  readonly delayMs?: number
  /** Called with each call of a tool. */
  readonly onCall?: (call: UserCall) => void
}

/** An MCP server at which users log in. */
export interface LoginServer extends AsyncDisposable {
  readonly issuer: AuthorizationServer
  readonly server: HttpServer
  /** Its entry in `mcp.json`, in place of that of a program. */
  readonly entry: object
}

export async function openLoginServer({
  tools = [{ name: 'whoami', inputSchema: { type: 'object' } }],
  delayMs = 0,
  onCall,
  ...options
}: LoginServerOptions = {}): Promise<LoginServer> {
  const issuer = await AuthorizationServer.open(options)
  const server = await HttpServer.listen({
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'login', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call'({ name, arguments: given }, { response }) {
      const token = String(response.req.headers.authorization).replace('Bearer ', '')
      const user = issuer.userOf(token) ?? 'nobody'
      onCall?.({ tool: String(name), arguments: given, user })
      return text(user)
    },
  })
  const accepts = (token: string, resource: string) => issuer.accepts(token, resource)
  server.delayMs = delayMs
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
