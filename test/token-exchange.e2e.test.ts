// The users of the host at MCP servers whose authorization server believes what the host says about them.
import { openLoginServer } from '@mcp-host/mcp-testkit'
import { eventually } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool, type LoginStage, openLoginStage } from './upstream-login-stage.ts'

const GRANTS = ['token-exchange', 'jwt-bearer'] as const
const CLIENT = {
  client_id: 'host',
  client_secret: 'a secret',
  redirect_uris: [],
  response_types: [],
  grant_types: [],
}
const cleanup = new AsyncDisposableStack()
let url: string
let stage: LoginStage
const servers = new Map<string, Awaited<ReturnType<typeof openLoginServer>>>()

beforeAll(async () => {
  const entries: Record<string, object> = {}
  const trusts = () => ({ issuer: `${url}/users`, jwks: `${url}/users/jwks` })
  for (const grant of GRANTS) {
    const grants = [`urn:ietf:params:oauth:grant-type:${grant}`]
    const client = { ...CLIENT, grant_types: grants }
    const server = cleanup.use(await openLoginServer({ clients: [client], trusts }))
    servers.set(grant, server)
    entries[grant] = { ...server.entry, auth: authAt(server.issuer.url, grant) }
  }
  const stranger = cleanup.use(await openLoginServer({ clients: [CLIENT] }))
  entries['stranger'] = { ...stranger.entry, auth: authAt(stranger.issuer.url, 'jwt-bearer') }
  const onUrl = (its: string): void => void (url = its)
  stage = cleanup.use(await openLoginStage(entries, { toolCount: 1, onUrl }))
  await eventually(async () => (await stage.bob.mcp.listTools()).tools.length === 3)
}, 120_000)
afterAll(() => cleanup.disposeAsync())

function authAt(issuer: string, grant: string): object {
  const client = { clientId: 'host', clientSecret: 'a secret' }
  return { type: 'token-exchange', grant, issuer, listAs: 'user:ann', ...client }
}

test('nobody logs in, and each call has a token of its user', async () => {
  const { ann, bob } = stage
  const { tools } = await bob.mcp.listTools()
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(GRANTS.map((grant) => `${grant}__whoami`)),
  )
  const calls = Array.from({ length: 10 }, () =>
    GRANTS.flatMap((grant) => [
      callTool(ann, `${grant}__whoami`).then((who) => expect(who).toContain('"user:ann"')),
      callTool(bob, `${grant}__whoami`).then((who) => expect(who).toContain('"user:bob"')),
    ]),
  )
  await Promise.all(calls.flat())
  // One for the list of tools.
  for (const { issuer } of servers.values()) expect(issuer.issued).toHaveLength(3)
})

test('where the authorization server does not believe the host, the reason is told', async () => {
  const isTold = async (): Promise<boolean> => {
    const response = await fetch(`${url}/health`, { headers: stage.ann.headers })
    const { servers: all } = (await response.json()) as { servers: Record<string, unknown>[] }
    const { error } = all.find(({ server }) => server === 'stranger') ?? {}
    return String(error).includes('gave no token: unsupported grant_type')
  }
  await eventually(isTold)
})

test('a token that is over is replaced', async () => {
  for (const [grant, { issuer }] of servers) {
    for (const token of issuer.issued) await issuer.revoke(token)
    expect(await callTool(stage.bob, `${grant}__whoami`)).toContain('"user:bob"')
    expect(issuer.issued).toHaveLength(4)
  }
})

test('nobody sees these servers among those at which to log in', async () => {
  const response = await fetch(`${stage.url}/api/connections`, { headers: stage.ann.headers })
  expect(await response.json()).toEqual({ connections: [] })
})

test('the keys are public, and neither they nor the tokens are secrets in a log', async () => {
  const found = await fetch(`${stage.url}/users/.well-known/openid-configuration`)
  const { jwks_uri: address, issuer } = (await found.json()) as Record<string, string>
  expect(issuer).toBe(`${stage.url}/users`)
  const { keys } = (await (await fetch(address ?? '')).json()) as { keys: object[] }
  expect(keys).toEqual([
    expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }),
  ])
  expect(Object.keys(keys[0] ?? {})).not.toContain('d')
  const logs = await stage.stack.logs()
  for (const { issuer: server } of servers.values()) {
    for (const token of server.issued) expect(logs).not.toContain(token)
    for (const asked of server.asked) {
      const assertion = asked.get('subject_token') ?? asked.get('assertion') ?? ''
      expect(assertion.split('.')).toHaveLength(3)
      expect(logs).not.toContain(assertion)
    }
  }
})
