import type { Limit } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { limitText } from './limit-text.ts'

test.each<[Limit, string]>([
  [
    { setting: 'LIMIT_REQUESTS', what: 'requests', permits: 1_000, windowMs: 1_000 },
    '1,000 requests a second for each caller',
  ],
  [
    { setting: 'LIMIT_ADDRESS', what: 'requests of an address', permits: 5, windowMs: 60_000 },
    '5 requests a minute for each address',
  ],
  [{ setting: 'LIMIT_TOKENS', what: 'tokens' }, 'no limit of tokens for each caller'],
  [
    { setting: 'LIMIT_SOCKETS', what: 'open sockets', permits: 50 },
    '50 open sockets and streams for each caller at one gateway',
  ],
  [{ setting: 'LIMIT_X', what: 'things', permits: 2, windowMs: 7 }, '2 things in 7 ms'],
])('the limit %j is said as "%s"', (limit, text) => {
  expect(limitText(limit)).toBe(text)
})
