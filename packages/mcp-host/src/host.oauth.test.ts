// Servers at which a user has to log in.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { AuthorizationServer, fixturePath, HttpServer, text } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'
import { type CompleteLogin, isLoginNeeded, type OAuthAuthConfig } from './index.ts'
import type { RemoteServerConfig, StdioServerConfig, UserLogins } from './index.ts'

let issuer: AuthorizationServer
let server: HttpServer
let stage: HostStage
let kept: CompleteLogin | undefined
let pages: URL[]
let login: NonNullable<UserLogins['login']>
beforeEach(async () => {
  issuer = await AuthorizationServer.open()
  server = await HttpServer.open({
    ...LEGACY,
    'tools/list': () => ({
      tools: ['whoami', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
    async 'tools/call'({ name }, { response }) {
      const token = String(response.req.headers.authorization).replace('Bearer ', '')
      if (name === 'whoami' || (await issuer.accepts(token, server.url, 'notes.write'))) {
        return text(issuer.userOf(token) ?? '')
      }
      const challenge = 'Bearer error="insufficient_scope", scope="notes.write"'
      response.writeHead(403, { 'www-authenticate': challenge }).end()
      return undefined
    },
  })
  protect(issuer)
  stage = await HostStage.open()
  kept = undefined
  pages = []
  login = (page) => {
    pages.push(page)
    return issuer.login(page, 'ann')
  }
})
afterEach(() => issuer[Symbol.asyncDispose]())

function protect(by: AuthorizationServer): void {
  const accepts = (token: string, resource: string) => by.accepts(token, resource)
  server.protection = { issuer: by.url, scope: 'notes.read', accepts }
}

const store = { load: async () => kept, save: async (next?: CompleteLogin) => void (kept = next) }

const oauth = (): OAuthAuthConfig => ({
  type: 'oauth',
  redirectUrl: 'http://localhost:8123/back',
  clientName: 'Notes',
  store,
  login: (page) => login(page),
})

function configured(): RemoteServerConfig {
  return { type: 'http', url: server.url, headers: {}, protocol: 'legacy', auth: oauth() }
}

const start = (): Promise<unknown> => stage.host.initialize({ servers: { notes: configured() } })

test('the configuration describes an authorization server that publishes no metadata', async () => {
  const client_id = 'notes-host'
  const redirect_uris = ['http://localhost:8123/back']
  const client = { client_id, redirect_uris, token_endpoint_auth_method: 'none' as const }
  await using silent = await AuthorizationServer.open({
    clients: [{ ...client, grant_types: ['authorization_code', 'refresh_token'] }],
    ttlSeconds: 1,
  })
  silent.publishesMetadata = false
  server.protection = {
    issuer: silent.url,
    scope: 'notes.write offline_access',
    accepts: (token) => silent.accepts(token),
  }
  login = (page) => silent.login(page, 'ann')
  const described = {
    issuer: silent.url,
    authorizationEndpoint: `${silent.url}/auth`,
    tokenEndpoint: `${silent.url}/token`,
  }
  const auth = { ...oauth(), clientId: client_id, ...described }
  await stage.host.initialize({ servers: { notes: { ...configured(), auth } } })
  await stage.call('notes.whoami')
  expect(kept).toMatchObject({ issuer: silent.url })
  await silent.revoke(kept?.tokens.access_token ?? '')
  await stage.call('notes.whoami')
  expect(silent.refreshes).toBe(1)

  const { tokenEndpoint: _, ...half } = auth
  const refused = stage.host.reload({ servers: { notes: { ...configured(), auth: half } } })
  await expect(refused).rejects.toThrow('"authorizationEndpoint" and "tokenEndpoint" together')
})

test('a user logs in once, for this server and what it demands', async () => {
  await start()
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(pages).toHaveLength(1)
  expect(Object.fromEntries(pages[0]?.searchParams ?? [])).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: 'http://localhost:8123/back',
    resource: server.url,
    scope: 'notes.read offline_access',
    state: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(issuer.registered).toHaveLength(1)
  expect(kept).toMatchObject({ issuer: issuer.url, scope: 'notes.read', resource: server.url })
})

test('a kept login is used by another process', async () => {
  await start()
  await stage.host.shutdown()
  stage = await HostStage.open()
  await start()
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(pages).toHaveLength(1)
})

test('calls whose token ended are sent again with one new token, and without the user', async () => {
  await start()
  await issuer.revoke(kept?.tokens.access_token ?? '')
  const calls = Array.from({ length: 50 }, () => stage.call('notes.whoami'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann']))
  expect([issuer.issued.length, pages.length]).toEqual([2, 1])
})

test('a token that expired is replaced before it is sent', async () => {
  await using brief = await AuthorizationServer.open({ ttlSeconds: 1 })
  protect(brief)
  issuer.userOf = (token) => brief.userOf(token)
  login = (page) => brief.login(page, 'ann')
  await start()
  const { refused } = server
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect([server.refused, brief.issued.length]).toEqual([refused, 2])
})

test('processes that share a login replace its token once', async () => {
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  const shared = (): RemoteServerConfig => {
    const config = configured()
    const auth = config.auth as OAuthAuthConfig
    return { ...config, auth: { ...auth, store: { ...store, alone } } }
  }
  const stages = [stage, await HostStage.open(), await HostStage.open()]
  for (const each of stages) await each.host.initialize({ servers: { notes: shared() } })
  await issuer.revoke(kept?.tokens.access_token ?? '')
  const calls = stages.flatMap((each) =>
    Array.from({ length: 20 }, () => each.call('notes.whoami')),
  )
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann']))
  expect([issuer.issued.length, pages.length]).toEqual([2, 1])
})

test('a user whose login is over is asked again, with the same registration', async () => {
  await start()
  await issuer.endLogins()
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect([pages.length, issuer.registered.length]).toEqual([2, 1])
})

test.each([
  ['is down', ''],
  ['is hidden by a proxy', '{"error":"Service Unavailable"}'],
  ['has an error of its own', '{"error":"server_error"}'],
  ['refuses the kind of request', '{"error":"unsupported_grant_type"}'],
])('an authorization server that %s ends no login', async (_, breakage) => {
  await start()
  await issuer.revoke(kept?.tokens.access_token ?? '')
  Object.assign(issuer, { isBroken: true, breakage })
  await expect(stage.call('notes.whoami')).rejects.toThrow('the login cannot be used now')
  issuer.isBroken = false
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(pages).toHaveLength(1)
})

test('a call that needs another scope asks for it and for those before', async () => {
  await start()
  expect(await stage.call('notes.write')).toBe('ann')
  expect(pages[1]?.searchParams.get('scope')).toBe('notes.read notes.write offline_access')
  expect(await stage.call('notes.write')).toBe('ann')
  expect(pages).toHaveLength(2)
})

test('a server that asks for scopes that its token has opens no page after page', async () => {
  await start()
  const accepts = issuer.accepts.bind(issuer)
  issuer.accepts = async (token, resource, scope) =>
    scope === undefined && (await accepts(token, resource))
  expect(await stage.call('notes.write').catch((error: unknown) => String(error))).toContain(
    'Insufficient scope',
  )
  await expect(stage.call('notes.write')).rejects.toThrow('asks for the scopes that it has got')
  expect(pages).toHaveLength(2)
})

test('instances of a server share one login', async () => {
  const config = configured()
  const instances = [{}, {}, {}]
  await stage.host.initialize({ servers: { notes: { ...config, instances } } })
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(pages).toHaveLength(1)
  await issuer.revoke(kept?.tokens.access_token ?? '')
  const calls = Array.from({ length: 9 }, () => stage.call('notes.whoami'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann']))
  expect([issuer.issued.length, pages.length]).toEqual([2, 1])
})

test('a login goes to the configured authorization server, whatever the server names', async () => {
  await using thief = await AuthorizationServer.open()
  const accepts = (token: string, resource: string) => issuer.accepts(token, resource)
  server.protection = { issuer: thief.url, scope: 'notes.read', accepts }
  const config = configured()
  const auth = { ...(config.auth as OAuthAuthConfig), issuer: issuer.url }
  await stage.host.initialize({ servers: { notes: { ...config, auth } } })
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect([thief.asked.length, thief.registered.length]).toEqual([0, 0])
})

test('a secret without its authorization server is a fault of the configuration', async () => {
  const config = configured()
  const auth = { ...(config.auth as OAuthAuthConfig), clientId: 'a', clientSecret: 'b' }
  const refused = stage.host.initialize({ servers: { notes: { ...config, auth } } })
  await expect(refused).rejects.toThrow('must have "clientId" and "issuer" beside "clientSecret"')
})

test('a server that moves to another authorization server gets a login there', async () => {
  await start()
  await using other = await AuthorizationServer.open()
  protect(other)
  issuer.userOf = (token) => other.userOf(token)
  const { length } = issuer.asked
  login = (page) => other.login(page, 'ann')
  expect(await stage.call('notes.whoami')).toBe('ann')
  expect(kept?.issuer).toBe(other.url)
  expect(other.registered).toHaveLength(1)
  expect(issuer.asked).toHaveLength(length)
})

test('no token is in a log, nor in an error', async () => {
  await start()
  await issuer.revoke(kept?.tokens.access_token ?? '')
  issuer.isBroken = true
  const failure = await stage.call('notes.whoami').catch((error: unknown) => String(error))
  const shown = JSON.stringify([failure, stage.logged])
  for (const token of [kept?.tokens.access_token, kept?.tokens.refresh_token]) {
    expect(shown).not.toContain(token)
  }
})

describe('the answer of a browser is refused', () => {
  const changed = (change: (answer: URLSearchParams) => void): void => {
    login = async (page) => {
      const answer = await issuer.login(page, 'ann')
      change(answer.searchParams)
      return answer
    }
  }

  test.each<[string, (answer: URLSearchParams) => void, string]>([
    ['to another login', (answer) => answer.set('state', 'x'), 'belongs to another login'],
    ['without a state', (answer) => answer.delete('state'), 'belongs to another login'],
    ['of another authorization server', (answer) => answer.set('iss', 'https://x'), 'ssuer'],
    ['that hides its sender', (answer) => answer.delete('iss'), 'ssuer'],
    ['without a code', (answer) => answer.delete('code'), 'without a code'],
    [
      'with a code of somebody else',
      (answer) => answer.set('code', 'x'),
      'grant request is invalid',
    ],
    ['that says no', (answer) => answer.set('error', 'access_denied'), 'access_denied'],
  ])('%s', async (_, change, reason) => {
    changed(change)
    await expect(start()).rejects.toThrow(reason)
    expect(kept).toBeUndefined()
  })
})

test('an application that logs users in elsewhere is told which request needs a login', async () => {
  const redirectUrl = 'http://localhost:8123/back'
  const open = async (): Promise<HostStage> => {
    const elsewhere = await HostStage.open({ logins: () => ({ redirectUrl, store }) })
    const auth = { type: 'oauth' } as const
    await elsewhere.host.initialize({ servers: { notes: { ...configured(), auth } } })
    return elsewhere
  }
  const refused = await open().catch((error: unknown) => error)
  expect(isLoginNeeded(refused)).toBe(true)
  expect(pages).toEqual([])
  await start()
  expect(await (await open()).call('notes.whoami')).toBe('ann')
})

test('an authorization server gets further parameters', async () => {
  const auth: OAuthAuthConfig = { ...oauth(), parameters: { access_type: 'offline' } }
  await stage.host.initialize({ servers: { notes: { ...configured(), auth } } })
  expect(pages[0]?.searchParams.get('access_type')).toBe('offline')
})

test('a program has the token of its user in a variable', async () => {
  const program: StdioServerConfig = {
    type: 'stdio',
    command: process.execPath,
    args: [fixturePath('echo')],
    env: {},
    cwd: import.meta.dirname,
    auth: { ...oauth(), issuer: issuer.url, scope: 'openid', variable: 'CODE_TOKEN' },
  }
  await stage.host.initialize({ servers: { code: program } })
  const { env } = JSON.parse(await stage.call('code.inspect'))
  expect(issuer.userOf(env.CODE_TOKEN)).toBe('ann')
  expect(pages).toHaveLength(1)
  expect(JSON.stringify(stage.logged)).not.toContain(env.CODE_TOKEN)
})
