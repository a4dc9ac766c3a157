import { expect, test } from 'vitest'
import { parseNatsUrl } from './connect.ts'

const at = (...servers: string[]) => ({ servers: servers.map((server) => `nats://${server}`) })

test.each([
  ['localhost:4222', at('localhost:4222')],
  ['nats://localhost:4222', at('localhost:4222')],
  ['nats://[::1]:4222', at('[::1]:4222')],
  ['nats://s3cret@localhost:4222', { ...at('localhost:4222'), token: 's3cret' }],
  ['nats://ann:pa%40ss@localhost:4222', { ...at('localhost:4222'), user: 'ann', pass: 'pa@ss' }],
  ['nats://token@a:1,nats://b:2,c:3', { ...at('a:1', 'b:2', 'c:3'), token: 'token' }],
])('the URL %s is parsed', (url, options) => {
  expect(parseNatsUrl(url)).toEqual(options)
})
