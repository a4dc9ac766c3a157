import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { AuthorizationServer, HttpServer, text } from '@mcp-host/mcp-testkit'
import { eventually, FormBrowser, logIn, startStack, startTcpProxy } from '@mcp-host/testkit'
import { HttpConnection } from '../http-connection.ts'
import { quantile, quantiles } from '../quantile.ts'

const ROUNDS = 15
const CALLS = 400
/** The callers at the same time. */
const CALLERS = 8
/** Logins that are begun at the same time at the authorization server that does not answer. */
const ATTACKERS = 8
const GOALS = { login: 1.05, attack: 1.5 }

/**
 * Calls a server with static headers and one with the login of a user in turn; then lists and calls beside logins that
 * are begun at an authorization server that does not answer.
 */
export async function benchLogins(): Promise<object> {
  await using open = new AsyncDisposableStack()
  const { issuer, plain, user, hung } = await openServers(open)
  const proxy = open.use(await startTcpProxy())
  const stack = open.use(
    await startStack({
      tools: [{ name: 'local', inputSchema: { type: 'object' } }],
      servers: {
        plain: entry(plain, { headers: { authorization: 'Bearer static' } }),
        user: entry(user, { auth: { type: 'oauth' } }),
        hung: entry(hung, { auth: { type: 'oauth' } }),
      },
      toolCount: 4,
      env: { PUBLIC_URL: proxy.url, TOKEN_ENC_KEY: randomBytes(32).toString('base64') },
    }),
  )
  proxy.route(stack.url)
  await logIn(`${proxy.url}/connect/user`, new FormBrowser(proxy.url), {
    issuer,
    as: 'ann',
  })
  const connections = Array.from({ length: CALLERS }, () => new HttpConnection(stack.url))
  open.defer(() => {
    for (const connection of connections) connection.close()
  })
  await eventually(async () => (await call(connections[0]!, 'user__echo')).includes('"ok"'))

  const times: Record<'plain' | 'user', number[]> = { plain: [], user: [] }
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await callAll(connections, 'plain__echo')
    const second = await callAll(connections, 'user__echo')
    times.plain.push(...first.ms)
    times.user.push(...second.ms)
    ratios.push(second.totalMs / first.totalMs)
  }

  const calm = await beside(connections)
  const attack = new AbortController()
  const attackers = Array.from({ length: ATTACKERS }, () => beginLogins(proxy.url, attack.signal))
  const attacked = await beside(connections)
  attack.abort()
  await Promise.all(attackers)
  const figures = {
    calls: ROUNDS * CALLS,
    callers: CALLERS,
    plainMs: quantiles(times.plain, 'p50', 'p95'),
    userMs: quantiles(times.user, 'p50', 'p95'),
    loginRatio: quantile(ratios, 0.5),
    attackRatio: {
      list: ratio(attacked.list, calm.list),
      call: ratio(attacked.call, calm.call),
    },
    goals: GOALS,
  }
  const { list, call: calls } = figures.attackRatio
  if (figures.loginRatio > GOALS.login || Math.max(list, calls) > GOALS.attack) process.exitCode = 1
  return figures
}

interface Servers {
  readonly issuer: AuthorizationServer
  readonly plain: HttpServer
  /** The server at which the user logs in. */
  readonly user: HttpServer
  /** The server whose authorization server does not answer. */
  readonly hung: HttpServer
}

async function openServers(open: AsyncDisposableStack): Promise<Servers> {
  const issuer = open.use(await AuthorizationServer.open())
  // The same server for all, which asks no authorization server for each call.
  const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
  const handlers = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'bench', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': () => text('ok'),
  }
  const servers = await Promise.all(
    ['plain', 'user', 'hung'].map(async () => HttpServer.listen(handlers)),
  )
  const [plain, user, hung] = servers as [HttpServer, HttpServer, HttpServer]
  for (const server of servers) open.defer(() => server.close())
  plain.token = 'static'
  const accepts = async (token: string): Promise<boolean> => issuer.issued.includes(token)
  user.protection = { issuer: issuer.url, scope: 'notes.read', accepts }
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  open.defer(() => silent.closeAllConnections())
  open.defer(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  hung.protection = { issuer: `http://127.0.0.1:${port}`, accepts: async () => false }
  return { issuer, plain, user, hung }
}

function entry({ url }: HttpServer, more: object): object {
  return { command: undefined, args: undefined, env: undefined, type: 'http', url, ...more }
}

const ratio = (one: number, other: number): number => Math.round((one / other) * 100) / 100

async function callAll(
  connections: readonly HttpConnection[],
  tool: string,
): Promise<{ readonly ms: number[]; readonly totalMs: number }> {
  const ms: number[] = []
  const begin = performance.now()
  let left = CALLS
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) {
        const sentAt = performance.now()
        const answer = await call(connection, tool)
        if (!answer.includes('"ok"')) throw new Error(`${tool}: ${answer}`)
        ms.push(performance.now() - sentAt)
      }
    }),
  )
  return { ms, totalMs: performance.now() - begin }
}

/** The median times of lists and of calls. */
async function beside(
  connections: readonly HttpConnection[],
): Promise<{ readonly list: number; readonly call: number }> {
  const lists: number[] = []
  for (let index = 0; index < CALLS; index += 1) {
    const begin = performance.now()
    await post(connections[0]!, 'tools/list', {})
    lists.push(performance.now() - begin)
  }
  const { ms } = await callAll(connections, 'plain__echo')
  return { list: quantile(lists, 0.5), call: quantile(ms, 0.5) }
}

/** Begins logins whose authorization server does not answer, one after the other. */
async function beginLogins(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fetch(`${url}/connect/hung`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url },
      body: 'decision=connect',
      signal,
    })
      .then((response) => response.body?.cancel())
      .catch(() => undefined)
  }
}

function call(connection: HttpConnection, name: string): Promise<string> {
  return post(connection, 'tools/call', { name, arguments: {} })
}

async function post(connection: HttpConnection, method: string, params: object): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return (await connection.ask('POST', '/mcp', 'content-type: application/json\r\n', body)).body
}
