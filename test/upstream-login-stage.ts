// A host with the users ann, who is an administrator, and bob, for tests of logins at MCP servers.
import { randomBytes } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Stack, TcpProxy } from '@mcp-host/testkit'
import { createKey, eventually, FormBrowser, startStack, startTcpProxy } from '@mcp-host/testkit'
import { findBroker } from '../tools/servers/find-broker.ts'
import { firstAdminLink } from '../tools/start/first-admin.ts'

export const PASSWORD = 'correct horse battery'

export interface StageUser {
  readonly browser: FormBrowser
  /** An API key with all scopes. */
  readonly headers: { readonly authorization: string }
  readonly mcp: Client
}

export interface LoginStage extends AsyncDisposable {
  readonly url: string
  readonly proxy: TcpProxy
  readonly stack: Stack
  readonly ann: StageUser
  readonly bob: StageUser
}

export async function openLoginStage(
  servers: Readonly<Record<string, object>>,
  options: {
    readonly brokerFolder?: string
    /** Without those of servers that need the host itself before they list theirs. */
    readonly toolCount?: number
    /** Called with the address of the host before it starts. */
    readonly onUrl?: (url: string) => void
  } = {},
): Promise<LoginStage> {
  await using cleanup = new AsyncDisposableStack()
  const proxy = cleanup.use(await startTcpProxy())
  const { url } = proxy
  const { brokerFolder, toolCount = 1 + Object.keys(servers).length, onUrl } = options
  onUrl?.(url)
  const stack = cleanup.use(
    await startStack({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers,
      toolCount,
      ...(brokerFolder === undefined ? {} : { brokerFolder }),
      env: {
        AUTH: 'local,keys',
        PUBLIC_URL: url,
        TOKEN_ENC_KEY: randomBytes(32).toString('base64'),
      },
    }),
  )
  proxy.route(stack.url)
  const bus = await stack.broker.connect()
  const broker = findBroker(stack.broker.env, '/', stack.broker.url)
  const { link = '' } = await firstAdminLink(broker, { AUTH: 'local', PUBLIC_URL: url })
  const admin = await accept(url, link, 'ann')
  const made = await fetch(`${url}/api/accounts`, {
    method: 'POST',
    headers: { cookie: admin.cookies(), origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bob' }),
  })
  const { invitation } = (await made.json()) as { readonly invitation: { readonly url: string } }
  const userOf = async (
    name: string,
    browser: FormBrowser,
    roles: string[],
  ): Promise<StageUser> => {
    const headers = await createKey(bus, `user:${name}`, roles)
    const isKnown = async (): Promise<boolean> => (await fetch(`${url}/api/me`, { headers })).ok
    await eventually(isKnown)
    const mcp = new Client({ name, version: '1.0.0' })
    const requestInit = { headers }
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
    cleanup.defer(() => mcp.close())
    return { browser, headers, mcp }
  }
  const ann = await userOf('ann', admin, ['user', 'admin'])
  const bob = await userOf('bob', await accept(url, invitation.url), ['user'])
  const open = cleanup.move()
  return { url, proxy, stack, ann, bob, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** A browser in which a user has chosen a password by an invitation. */
async function accept(url: string, link: string, name?: string): Promise<FormBrowser> {
  const browser = new FormBrowser(url)
  const chosen = { password: PASSWORD, again: PASSWORD, ...(name === undefined ? {} : { name }) }
  await browser.submit(await browser.open(link), chosen)
  return browser
}

/** The labels of the logins that a user has at a server. */
export async function loginsOf(
  url: string,
  { headers }: StageUser,
  server: string,
): Promise<string[]> {
  const response = await fetch(`${url}/api/connections`, { headers })
  const { connections } = (await response.json()) as {
    readonly connections: readonly {
      readonly server: string
      readonly logins: readonly { readonly label: string }[]
    }[]
  }
  const found = connections.find((each) => each.server === server)
  if (found === undefined) throw new Error(`nobody logs in at ${server}`)
  return found.logins.map(({ label }) => label)
}

/** Calls a tool, with the login of a label. Returns the whole result as text. */
export async function callTool(
  { mcp }: StageUser,
  name: string,
  account?: string,
): Promise<string> {
  const chosen = account === undefined ? {} : { _meta: { 'mcp-host/options': { account } } }
  return JSON.stringify(await mcp.callTool({ name, arguments: {}, ...chosen }))
}
