import { callerAt, newEnvelope, NOBODY } from '@mcp-host/contracts'
import { LoginNeededError, ValidationError } from '@mcp-host/upstream'
import { beforeEach, expect, test } from 'vitest'
import { loginNeeded } from './login-needed.ts'
import type { ServeCall, ServedCall } from './serve-call.ts'
import { serveThrough } from './serve-call.ts'

const link = 'https://host.example/connect/notes'
const NO_LOGIN = new Error('the server cannot start', { cause: new LoginNeededError() })
const done = { content: [] }

let login: PromiseWithResolvers<void>
let isOver: boolean
let serve: ServeCall
beforeEach(() => {
  login = Promise.withResolvers()
  isOver = false
  const loggedIn = (over: AbortSignal): Promise<void> => {
    over.addEventListener('abort', () => (isOver = true))
    return login.promise
  }
  serve = serveThrough([loginNeeded({ link, loggedIn })])
})

const callThat = (
  send: () => Promise<object>,
  more: Partial<ServedCall<object>> = {},
): ServedCall<object> => ({
  envelope: newEnvelope(callerAt('http', NOBODY)),
  server: 'notes',
  tool: 'whoami',
  call: 'c1',
  session: 's1',
  arguments: {},
  send,
  ...more,
})

/** A server that refuses the calls before the login. */
function refusing(): () => Promise<object> {
  let isLoggedIn = false
  void login.promise.then(() => (isLoggedIn = true))
  return async () => {
    if (isLoggedIn) return done
    throw NO_LOGIN
  }
}

test('a call that needs a login is answered with the link to it', async () => {
  expect(await serve(callThat(refusing()))).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringContaining(link) }],
    _meta: { 'mcp-host/login': { server: 'notes', link } },
  })
})

test('a caller that can show the link is shown it, and the call goes on after the login', async () => {
  const shown: string[] = []
  const showLink: ServedCall<object>['showLink'] = async ({ url }, loggedIn) => {
    shown.push(url)
    await loggedIn
    return true
  }
  const calls = Array.from({ length: 3 }, () => serve(callThat(refusing(), { showLink })))
  calls.push(serve(callThat(refusing(), { showLink, session: 's2' })))
  await new Promise((resolve) => setImmediate(resolve))
  login.resolve()
  expect(await Promise.all(calls)).toEqual([done, done, done, done])
  // One for each session.
  expect(shown).toEqual([link, link])
})

test('the tool that stands for the login answers with the link, which is no error', async () => {
  const result = await serve(callThat(refusing(), { tool: 'connect' }))
  expect(result).toMatchObject({ _meta: { 'mcp-host/login': { server: 'notes', link } } })
  expect(result).not.toHaveProperty('isError')
})

test('the tool that stands for the login says that it is done', async () => {
  const showLink: ServedCall<object>['showLink'] = (_, loggedIn) => loggedIn.then(() => true)
  let isLoggedIn = false
  const send = async (): Promise<object> => {
    if (!isLoggedIn) throw NO_LOGIN
    throw new ValidationError('there is no tool "connect"', [], { server: 'notes' })
  }
  const called = serve(callThat(send, { tool: 'connect', showLink }))
  const other = serve(callThat(send, { tool: 'whoami', showLink, session: 's2' }))
  await new Promise((resolve) => setImmediate(resolve))
  isLoggedIn = true
  login.resolve()
  expect(await called).toMatchObject({ content: [{ text: expect.stringContaining('is logged') }] })
  await expect(other).rejects.toThrow('there is no tool')
})

test('a user who does not follow the link ends the wait', async () => {
  const showLink = async (): Promise<boolean> => false
  expect(await serve(callThat(refusing(), { showLink }))).toMatchObject({ isError: true })
  expect(isOver).toBe(true)
})

test('other errors and results stay as they are', async () => {
  const down = new Error('the server is down')
  await expect(serve(callThat(() => Promise.reject(down)))).rejects.toBe(down)
  expect(await serve(callThat(async () => done))).toBe(done)
})
