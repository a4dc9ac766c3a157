import { newEnvelope, NOBODY, callerAt } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { LoginNeededError } from '@mcp-host/upstream'
import { loginNeeded } from './login-needed.ts'
import { type ServedCall, serveThrough } from './serve-call.ts'

const link = 'https://host.example/connect/notes'
const serve = serveThrough([loginNeeded(link)])
const callThat = (send: () => Promise<object>): ServedCall<object> => ({
  envelope: newEnvelope(callerAt('http', NOBODY)),
  server: 'notes',
  tool: 'whoami',
  call: 'c1',
  session: undefined,
  arguments: {},
  send,
})

test('a call that needs a login is answered with the link to it', async () => {
  const cause = new Error('the server cannot start', { cause: new LoginNeededError() })
  const result = await serve(callThat(() => Promise.reject(cause)))
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringContaining(link) }],
    _meta: { 'mcp-host/login': { server: 'notes', link } },
  })
})

test('other errors and results stay as they are', async () => {
  const down = new Error('the server is down')
  await expect(serve(callThat(() => Promise.reject(down)))).rejects.toBe(down)
  expect(await serve(callThat(async () => ({ content: [] })))).toEqual({ content: [] })
})
