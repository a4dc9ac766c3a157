import { Accounts, hashPassword } from '@mcp-host/auth'
import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { loadConfig } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { fastify } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MakerCheck } from './auth/maker-check.ts'
import { publicAddress } from './auth/public-address.ts'
import { gatewaySettings } from './config.ts'
import { BodyReader } from './edge/body-reader.ts'
import { GatewayAudit } from './gateway-audit.ts'
import { endLoginsOf } from './auth/session/login-sessions.ts'
import { UNLIMITED } from './limits/unlimited.ts'
import { openLogins } from './open-logins.ts'

const quiet = () => undefined
// Only the parts that logins use.
const logger = { info: quiet, warn: quiet, error: quiet } as unknown as Logger
const audit = new GatewayAudit(undefined)
const FORM = 'application/x-www-form-urlencoded'
const PROVIDER = {
  OIDC_ISSUER: 'https://idp.example',
  OIDC_CLIENT_ID: 'host',
  OIDC_CLIENT_SECRET: 'secret',
}
const ofProvider: Principal = {
  id: 'oidc:root',
  issuer: PROVIDER.OIDC_ISSUER,
  method: 'session',
  roles: ['admin'],
  scopes: ['admin'],
}
let broker: Broker
let bus: Bus
let accounts: Accounts

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  accounts = await Accounts.open(bus)
})
afterAll(() => broker[Symbol.asyncDispose]())

/** The logins of a gateway with some settings. */
async function open(env: Record<string, string>) {
  const config = loadConfig(gatewaySettings, env)
  const makers = await MakerCheck.open({ bus, accounts }, config)
  const address = publicAddress(config)
  const parts = { bus, accounts, makers, logger, address, audit, proxyFor: () => undefined }
  const logins = await openLogins(parts, config)
  if (logins === undefined) throw new Error('the settings allow no logins')
  return { ...logins, origin: address.publicUrl }
}

const headersOf = (setCookie: string) => ({ cookie: setCookie.split(';', 1)[0] ?? '' })

test.each([
  ['to the web UI where there is one', { WEB_FOLDER: '/web' }, '/'],
  ['without a web UI to a page that says it', {}, '/login'],
])('a login without a target leads %s', async (_, env, home) => {
  const logins = await open({ AUTH: 'local', ...env })
  await using app = fastify()
  await logins.addTo(app, { bodies: new BodyReader(), limits: UNLIMITED, audit })
  const { host } = new URL(logins.origin)
  const post = (url: string, payload: string) =>
    app.inject({
      method: 'POST',
      url,
      headers: { origin: logins.origin, host, 'content-type': FORM },
      payload,
    })
  const name = `eve-${home.length}`
  await accounts.create({ name, roles: ['user'], createdBy: 'local' })
  const { token } = await logins.local!.invitations.create(name, 'local')
  const chosen = await post(`/invite/${token}`, 'password=long+and+secret&again=long+and+secret')
  expect([chosen.statusCode, chosen.headers.location]).toEqual([303, home])
  const login = `name=${name}&password=long+and+secret`
  expect((await post('/login', login)).headers.location).toBe(home)
  expect((await post('/login', `${login}&return=%2Fx`)).headers.location).toBe('/x')
  const cookie = headersOf(String(chosen.headers['set-cookie']))
  const page = await app.inject({ url: '/login', headers: { ...cookie, host } })
  expect(page.body).toContain('You are logged in')
  expect(page.body.includes('Go to the chat')).toBe(home === '/')
})

test('a login with the old password that began before a reset ends with it', async () => {
  const password = await hashPassword('the old password')
  await accounts.create({ name: 'ann', roles: ['user'], createdBy: 'local', password })
  const logins = await open({ AUTH: 'local' })
  const { sessions, origin } = logins
  await using app = fastify()
  await logins.addTo(app, { bodies: new BodyReader(), limits: UNLIMITED, audit })
  const logIn = async () => {
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url: '/login',
      headers: { origin, host: new URL(origin).host, 'content-type': FORM },
      payload: 'name=ann&password=the+old+password',
    })
    expect(statusCode).toBe(303)
    return headersOf(String(headers['set-cookie']))
  }
  expect(await sessions.find(await logIn())).toMatchObject({ account: 'ann' })
  const read = accounts.read.bind(accounts)
  accounts.read = async (name) => {
    const before = await read(name)
    accounts.read = read
    await accounts.endLogins(name, { password: 'another' })
    return before
  }
  expect(await sessions.find(await logIn())).toBeUndefined()
})

test('ends of logins within a second are told apart', async () => {
  await accounts.create({ name: 'bob', roles: ['user'], createdBy: 'local' })
  const both = await Promise.all([accounts.endLogins('bob'), accounts.endLogins('bob')])
  expect(both[0].validFrom).not.toBe(both[1].validFrom)
})

test.each<[string, boolean, Record<string, string>]>([
  ['the same provider', true, { AUTH: 'local,oidc', ...PROVIDER }],
  ['no provider', false, { AUTH: 'local' }],
  [
    'a provider for programs alone',
    false,
    { AUTH: 'local,oidc', OIDC_ISSUER: PROVIDER.OIDC_ISSUER },
  ],
  ['another provider', false, { AUTH: 'oidc', ...PROVIDER, OIDC_ISSUER: 'https://other.example' }],
])('a login at a provider at a gateway with %s is valid: %s', async (_, isGood, env) => {
  const { sessions } = await open({ AUTH: 'oidc', ...PROVIDER })
  const headers = headersOf(await sessions.begin({ principal: ofProvider }))
  const request = { method: 'GET', headers }
  expect(await sessions.authenticate(request)).toEqual(ofProvider)
  const later = (await open(env)).sessions
  const find = async () => later.authenticate(request)
  if (isGood) expect(await find()).toEqual(ofProvider)
  else await expect(find()).rejects.toThrow('log in again')
})

test('the logins of a user of a provider are ended together, and no others', async () => {
  const { sessions } = await open({ AUTH: 'oidc', ...PROVIDER })
  const begin = async (id: string) => {
    const headers = headersOf(await sessions.begin({ principal: { ...ofProvider, id } }))
    // The gateway then has the login in its cache.
    expect(await sessions.find(headers)).toMatchObject({ principal: { id } })
    return headers
  }
  const own = [await begin('oidc:eve'), await begin('oidc:eve')]
  const other = await begin('oidc:bob')
  expect(await endLoginsOf(bus, 'oidc:eve')).toBe(2)
  for (const headers of own) {
    await eventually(async () => (await sessions.find(headers)) === undefined)
  }
  expect(await sessions.find(other)).toMatchObject({ principal: { id: 'oidc:bob' } })
})
