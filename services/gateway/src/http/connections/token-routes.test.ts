import { generateKeyPairSync } from 'node:crypto'
import { compactDecrypt } from 'jose'
import { expect, test } from 'vitest'
import { callersDoor, headersOf } from '../__fixtures__/callers.ts'
import { startFakeGateway } from '../__fixtures__/start-fake-gateway.ts'

test('tokens of a user pass the bus encrypted', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await using gateway = await startFakeGateway({ auth: callersDoor() })
  gateway.bus.replies
    .set('login.keys', { keys: [], inbox: { ...publicKey.export({ format: 'jwk' }), kid: 'a' } })
    .set('login.bring', {})
  const headers = { ...headersOf('owner'), 'content-type': 'application/json' }
  const bring = (body: object): Promise<Response> =>
    fetch(`${gateway.url}/api/connections/notes/work`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    })
  expect((await bring({ access_token: 'canary', refresh_token: 'bird' })).status).toBe(204)
  const { subject, request } = gateway.bus.calls.at(-1) ?? {}
  expect(subject).toBe('login.bring')
  expect(JSON.stringify(gateway.bus.calls)).not.toMatch(/canary|bird/)
  const { sealed } = request as { readonly sealed: string }
  const { plaintext, protectedHeader } = await compactDecrypt(sealed, privateKey)
  expect(protectedHeader.kid).toBe('a')
  expect(JSON.parse(new TextDecoder().decode(plaintext))).toMatchObject({
    access_token: 'canary',
    refresh_token: 'bird',
    server: 'notes',
    label: 'work',
    principal: expect.any(String),
  })
  const wrong = await bring({ access_token: 7 })
  expect(wrong.status).toBe(400)
  expect(await wrong.text()).toContain('access_token')
  gateway.bus.replies.set('login.keys', { keys: [] })
  expect((await bring({ access_token: 'canary' })).status).toBe(404)
})
