import type { FormBrowser } from '@mcp-host/testkit'
import { AuthorizationServer, HttpServer, text } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'

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
    ...LEGACY,
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

/** Follows the link to a login, as far as the authorization server. */
export async function leaveFor(link: string, browser: FormBrowser): Promise<URL> {
  const asked = await browser.open(link)
  const going = await browser.submit(asked, { decision: 'connect' })
  return new URL(going.headers.get('refresh')?.replace('0; url=', '') ?? '')
}

/** Logs a user in at a server. Returns the page at the end. */
export async function logIn(
  link: string,
  browser: FormBrowser,
  at: { readonly issuer: AuthorizationServer; readonly as: string },
): Promise<string> {
  const back = await at.issuer.login(await leaveFor(link, browser), at.as)
  return (await browser.open(back.href)).text
}
