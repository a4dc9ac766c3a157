import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { unreachableBroker } from './reach-broker.ts'

test('a broker that nobody runs is named without its token, unless another one answers', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const closed = 'nats://a-secret-token@127.0.0.1:1'
  expect(await unreachableBroker(closed)).toBe('127.0.0.1:1 cannot be reached (ECONNREFUSED)')
  expect(await unreachableBroker(`${closed},127.0.0.1:${port}`)).toBeUndefined()
})
