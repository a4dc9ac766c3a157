// Query parameters and form fields that are sent twice, on all routes that read one as a text.
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { addClientsRoutes } from '../auth/accounts/clients-routes.ts'
import { addConsentRoutes } from '../auth/accounts/consent-routes.ts'
import { addInvitationRoutes } from '../auth/accounts/invitation-routes.ts'
import { addProviderLogin } from '../auth/identity-provider/provider-login-routes.ts'
import { addLoginRoutes } from '../auth/login/login-routes.ts'
import { addPages } from '../auth/login/pages-scope.ts'
import { addPasswordRoutes } from '../auth/login/password-routes.ts'
import { BodyReader } from '../edge/body-reader.ts'
import { ReadBudget } from '../edge/read-budget.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const HOST = '127.0.0.1:3000'
const account = { account: 'ann', loggedInAt: 0 }
const interaction = { uid: 'u', prompt: { name: 'consent' }, session: { accountId: 'ann' } }
/** Answers of the parts behind the pages, as far as the requests below come. */
const parts = {
  provider: Object.assign(() => ({ interactionDetails: async () => interaction }), {
    begin: async () => ({ state: 's', url: 'https://idp.test/', nonce: 'n', verifier: 'v' }),
  }),
  logins: {
    find: async () => account,
    startCookie: () => ({ name: 'start', set: () => 'start=1' }),
  },
  accounts: { find: () => undefined, read: async () => undefined },
  attempts: { begin: async () => async () => undefined },
  counter: Promise.resolve({ add: async () => 1 }),
  clock: { now: () => 0 },
  invitations: { find: async () => ({ account: undefined }) },
  consents: { list: async () => [] },
  audit: { credentialRefused: () => undefined },
  logger: { error: vi.fn(), warn: () => undefined },
  addressOf: () => '10.0.0.1',
  publicUrl: `http://${HOST}`,
  origins: [`http://${HOST}`],
  bodies: new BodyReader(new ReadBudget()),
}

const pages = fastify()
beforeAll(async () => {
  // The routes use only these members.
  const deps = parts as never
  addPages(pages, deps)
  addLoginRoutes(pages, deps)
  addPasswordRoutes(pages, deps)
  addInvitationRoutes(pages, deps)
  addClientsRoutes(pages, deps)
  addConsentRoutes(pages, deps)
  addProviderLogin(pages, deps)
})
afterAll(() => pages.close())

test.each([
  ['GET', '/login', 'return'],
  ['GET', '/login', 'again'],
  ['GET', '/login/oidc', 'return'],
  ['GET', '/auth/callback', 'state'],
  ['POST', '/login', 'name'],
  ['POST', '/login', 'return'],
  ['POST', '/login', 'password'],
  ['POST', '/invite/token', 'name'],
  ['POST', '/invite/token', 'password'],
  ['POST', '/login/clients', 'client'],
  ['POST', '/auth/interaction/u', 'decision'],
] as const)('%s %s refuses a second %s with 400, as a page', async (method, path, field) => {
  const twice = `${field}=/a&${field}=/b`
  const isForm = method === 'POST'
  const { statusCode, body } = await pages.inject({
    method,
    url: isForm ? path : `${path}?${twice}`,
    headers: { host: HOST, ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }) },
    ...(isForm && { payload: twice }),
  })
  expect({ statusCode, body }).toEqual({
    statusCode: 400,
    body: expect.stringContaining(`${field}: is given more than once`),
  })
  expect(parts.logger.error).not.toHaveBeenCalled()
})

describe('routes of data', () => {
  const session = 'sessionsessionse'.repeat(2)
  let gateway: FakeGateway
  beforeAll(async () => {
    gateway = await startFakeGateway()
  })
  afterAll(() => gateway[Symbol.asyncDispose]())

  test.each([
    [`/api/chat/session/${session}/events`, 'after'],
    [`/api/chat/session/${session}/messages`, 'before'],
    [`/api/chat/session/${session}/messages`, 'limit'],
    ['/api/chat/sessions', 'limit'],
    ['/api/limits', 'principal'],
    ['/api/audit', 'after'],
    ['/api/shared/token/messages', 'before'],
    ['/api/shared/token/events', 'after'],
    ['/app-sandbox', 'connect'],
  ])('%s refuses a second %s with 400', async (path, field) => {
    const response = await fetch(`${gateway.url}${path}?${field}=1&${field}=2`)
    const { error } = (await response.json()) as { readonly error: unknown }
    expect({ status: response.status, error }).toMatchObject({ status: 400, error: { field } })
  })

  test('/ws closes a socket with a second sessionId as invalid', async () => {
    const url = `${gateway.url.replace('http', 'ws')}/ws?sessionId=a&sessionId=b`
    const socket = new WebSocket(url)
    const closed = await new Promise<unknown[]>((resolve) => {
      socket.on('close', (code, reason) => resolve([code, reason.toString()]))
    })
    expect(closed).toEqual([1008, expect.stringContaining('sessionId')])
  })
})
