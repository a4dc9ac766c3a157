// Decisions of a user that a program with the scope `chat` must not take by itself.
import type { SessionId } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDoor } from '../auth/authenticator.ts'
import { sessionRecord } from './__fixtures__/session-record.ts'
import type { FakeGateway } from './__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from './__fixtures__/start-fake-gateway.ts'

const SESSION = 'sessionsessionse'.repeat(2) as SessionId
const program = { ...LOCAL, id: 'user:ann', scopes: ['mcp', 'chat'] as const }

let gateway: FakeGateway
beforeAll(async () => {
  const principal = { ...program, scopes: [...program.scopes] }
  const auth = {
    ...openDoor('http://127.0.0.1:3000'),
    isOn: true,
    credentialOf: () => ({ kind: 'key' as const, id: 'program' }),
    principalOf: () => principal,
    authenticate: () => principal,
  }
  gateway = await startFakeGateway({ auth })
  gateway.bus.replies.set('session.get', sessionRecord(SESSION, 'user:ann'))
  gateway.bus.store(SESSION, { kind: 'input', fact: { id: 'm1', text: 'hello' } })
  for (const entry of gateway.bus.entries) entry.envelope.principal = 'user:ann'
})
afterAll(() => gateway[Symbol.asyncDispose]())

const send = (path: string, method: string, body?: object) =>
  fetch(gateway.url + path, {
    method,
    headers: { authorization: 'Bearer program', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

test.each([
  ['decide about a tool call', '/api/approvals/a1', { action: 'accept' }],
  ['share a session', `/api/chat/session/${SESSION}/shares`, {}],
])('a program with the scope chat alone cannot %s', async (_, path, body) => {
  const response = await send(path, 'POST', body)
  expect(response.status).toBe(403)
  expect(response.headers.get('www-authenticate')).toMatch(
    /insufficient_scope.*scope="chat decide"/,
  )
})

test.each(['/api/approvals', `/api/chat/session/${SESSION}/shares`])(
  'it can read %s',
  async (path) => {
    expect((await send(path, 'GET')).status).toBe(200)
  },
)
