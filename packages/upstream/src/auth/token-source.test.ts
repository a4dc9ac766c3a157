import { beforeEach, expect, test, vi } from 'vitest'
import { TokenSource } from './token-source.ts'

const response = new Response(null, {
  status: 401,
  headers: {
    'www-authenticate': 'Bearer resource_metadata="https://a.example/meta", scope="read write"',
  },
})
const refusal = { response, serverUrl: new URL('https://a.example/mcp'), fetchFn: fetch }

let asked: unknown[]
let seconds: number | undefined
let source: TokenSource
beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  seconds = undefined
  source = new TokenSource(async (challenge) => {
    asked.push(challenge)
    return {
      access_token: `token-${asked.length}`,
      token_type: 'Bearer',
      ...(seconds === undefined ? {} : { expires_in: seconds }),
    }
  })
  return () => void vi.useRealTimers()
})

test('requests at the same time get the token of one answer', async () => {
  expect(await Promise.all([source.token(), source.token()])).toEqual(['token-1', 'token-1'])
  expect(await source.token()).toBe('token-1')
})

test('a refused token is replaced, by what the server demands', async () => {
  await source.token()
  vi.advanceTimersByTime(1_000)
  await source.onUnauthorized(refusal)
  expect(await source.token()).toBe('token-2')
  const resourceMetadataUrl = new URL('https://a.example/meta')
  expect(asked).toEqual([{}, { resourceMetadataUrl, scope: 'read write' }])
})

test('a refusal just after a new token concerns the one before it', async () => {
  await source.token()
  await source.onUnauthorized(refusal)
  vi.advanceTimersByTime(999)
  await source.onUnauthorized(refusal)
  expect(await source.token()).toBe('token-2')
  vi.advanceTimersByTime(1)
  await source.onUnauthorized(refusal)
  expect(await source.token()).toBe('token-3')
})

test('a request that begins while a token is replaced waits for the new one', async () => {
  await source.token()
  const replaced = source.onUnauthorized(refusal)
  expect(await source.token()).toBe('token-2')
  await replaced
  expect(asked).toHaveLength(2)
})

test.each([
  [3_600, 3_590_000],
  [10, 8_000],
])('a token of %i s is replaced after %i ms', async (lifetime, staleMs) => {
  seconds = lifetime
  await source.token()
  vi.advanceTimersByTime(staleMs - 1)
  expect(await source.token()).toBe('token-1')
  vi.advanceTimersByTime(1)
  expect(await source.token()).toBe('token-2')
})

test('a failure is that of every request that waits, and the next one asks again', async () => {
  let isDown = true
  const broken = new TokenSource(async () => {
    if (isDown) throw new Error('it is down')
    return { access_token: 'a', token_type: 'Bearer' }
  })
  const waiting = await Promise.allSettled([broken.token(), broken.token()])
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isDown = false
  expect(await broken.token()).toBe('a')
})
