import { randomBytes } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { LoginServer } from '@mcp-host/mcp-testkit'
import type { Stack } from '@mcp-host/testkit'
import { eventually, FormBrowser, logIn, startStack, startTcpProxy } from '@mcp-host/testkit'
import { expect } from 'vitest'

/** A host with three supervisors, whose only user, `ann`, logs in at MCP servers. */
export interface LoginHost<Name extends string> extends AsyncDisposable {
  /** The public address. */
  readonly url: string
  readonly stack: Stack
  /** The supervisors besides the first one. */
  readonly others: Awaited<ReturnType<Stack['add']>>[]
  /** Logs the user in at a server. */
  connect(name: Name): Promise<void>
  /** Waits until the tool of a server is listed, for 20 s by default. */
  listed(name: Name, limitMs?: number): Promise<void>
  /** The text that the tool of a server answers. */
  call(name: Name): Promise<string>
  /** Ends the present access token of a server, so that the next call needs another one. */
  expire(name: Name): Promise<void>
  /** Ends the token of a server again and again, while its tool is called. Every call must succeed. */
  expireUnderLoad(
    name: Name,
    load: { readonly rounds: number; readonly calls: number },
  ): Promise<void>
}

export async function startLoginHost<Name extends string>(
  servers: Readonly<Record<Name, LoginServer>>,
): Promise<LoginHost<Name>> {
  await using opening = new AsyncDisposableStack()
  const proxy = opening.use(await startTcpProxy())
  const { url } = proxy
  const named = Object.entries<LoginServer>(servers)
  const stack = opening.use(
    await startStack({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: Object.fromEntries(named.map(([name, { entry }]) => [name, entry])),
      toolCount: 1 + named.length,
      env: { PUBLIC_URL: url, TOKEN_ENC_KEY: randomBytes(32).toString('base64') },
    }),
  )
  const others = [await stack.add('mcp-supervisor'), await stack.add('mcp-supervisor')]
  proxy.route(stack.url)
  const mcp = new Client({ name: 'test', version: '1.0.0' })
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  opening.defer(() => mcp.close())
  const open = opening.move()
  const call = async (name: Name): Promise<string> => {
    const { content } = await mcp.callTool({ name: `${name}__whoami`, arguments: {} })
    return (content as { readonly text: string }[]).map(({ text }) => text).join('')
  }
  const expire = async (name: Name): Promise<void> => {
    const { issuer } = servers[name]
    await issuer.revoke(issuer.issued.at(-1) ?? '')
  }
  return {
    url,
    stack,
    others,
    call,
    expire,
    async connect(name) {
      const { issuer } = servers[name]
      const page = await logIn(`${url}/connect/${name}`, new FormBrowser(url), {
        issuer,
        as: 'ann',
      })
      expect(page).toContain('You are connected')
    },
    async listed(name, limitMs = 20_000) {
      const isListed = async (): Promise<boolean> => {
        const { tools } = await mcp.listTools()
        return tools.some((tool) => tool.name === `${name}__whoami`)
      }
      await eventually(isListed, { limitMs, what: `the tool of ${name}` })
    },
    async expireUnderLoad(name, { rounds, calls }) {
      for (let round = 0; round < rounds; round += 1) {
        await expire(name)
        const answers = await Promise.all(Array.from({ length: calls }, () => call(name)))
        expect(new Set(answers)).toEqual(new Set(['ann']))
      }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
