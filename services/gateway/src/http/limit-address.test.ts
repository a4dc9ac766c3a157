import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { UNLIMITED } from '../limits/unlimited.ts'
import { callersDoor } from './__fixtures__/callers.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

let gateway: FakeGateway
/** The requests that were counted. */
let counted: (string | undefined)[]
const connection = ({ url }: { url?: string | undefined }): undefined => void counted.push(url)
beforeAll(async () => {
  gateway = await startFakeGateway({ auth: callersDoor(), limits: { ...UNLIMITED, connection } })
})
beforeEach(() => (counted = []))
afterAll(() => gateway[Symbol.asyncDispose]())

const PATHS = [
  '/',
  '/health',
  '/ready',
  '/openapi.json',
  '/.well-known/oauth-protected-resource',
  '/app-sandbox',
  '/unknown',
  '/api/me',
  '/api/shared/x',
  '/mcp',
]

test.each(PATHS)('a guessed credential at %s counts once', async (path) => {
  for (const headers of [{ authorization: 'Bearer guess' }, { cookie: 'mcp-host=guess' }]) {
    counted = []
    await (await fetch(gateway.url + path, { headers })).body?.cancel()
    expect(counted).toEqual([path])
  }
})

test.each(PATHS)('without a credential, %s counts unless it is a probe', async (path) => {
  await (await fetch(gateway.url + path)).body?.cancel()
  expect(counted).toEqual(path === '/health' || path === '/ready' ? [] : [path])
})

test.each(['/api/me', '/mcp', '/unknown'])('a preflight of %s counts', async (path) => {
  const origin = 'http://127.0.0.1:3000'
  const headers = { origin, 'access-control-request-method': 'GET' }
  const { status } = await fetch(gateway.url + path, { method: 'OPTIONS', headers })
  expect([status, counted]).toEqual([204, [path]])
})
