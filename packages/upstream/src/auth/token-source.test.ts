import { beforeEach, expect, test, vi } from 'vitest'
import { authorizedFetch } from './authorized-fetch.ts'
import { type AccessToken, TokenSource } from './token-source.ts'

/** The refusal of a request that had a token. */
async function refusalOf(token: string | undefined) {
  const refuse = async (): Promise<Response> =>
    new Response(null, {
      status: 401,
      headers: {
        'www-authenticate': 'Bearer resource_metadata="https://a.example/meta", scope="read write"',
      },
    })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await authorizedFetch(refuse, source)('https://a.example/mcp', { headers })
  return { response }
}

let asked: unknown[]
let seconds: number | undefined
let source: TokenSource
beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  seconds = undefined
  source = new TokenSource(async (request) => {
    asked.push(request)
    return {
      value: `token-${asked.length}`,
      lifeMs: seconds === undefined ? Infinity : seconds * 1_000,
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
  await source.onUnauthorized(await refusalOf('token-1'))
  expect(await source.token()).toBe('token-2')
  const challenge = {
    resourceMetadataUrl: new URL('https://a.example/meta'),
    scope: 'read write',
  }
  expect(asked).toEqual([
    { challenge: {}, isRefusal: false },
    { challenge, refused: 'token-1', isRefusal: true },
  ])
})

test('a late refusal of the token before is no reason for another one', async () => {
  await source.token()
  const late = await refusalOf('token-1')
  await source.onUnauthorized(await refusalOf('token-1'))
  await source.onUnauthorized(late)
  expect(await source.token()).toBe('token-2')
})

test('a request that begins while a token is replaced waits for the new one', async () => {
  await source.token()
  const replaced = source.onUnauthorized(await refusalOf('token-1'))
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
  const outcomes: string[] = []
  const get = async (): Promise<AccessToken> => {
    if (isDown) throw new Error('it is down')
    return { value: 'a', lifeMs: Infinity }
  }
  const broken = new TokenSource(get, (outcome) => outcomes.push(outcome))
  const waiting = await Promise.allSettled([broken.token(), broken.token()])
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isDown = false
  expect(await broken.token()).toBe('a')
  expect(outcomes).toEqual(['failed', 'ok'])
})
