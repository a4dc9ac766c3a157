import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker[Symbol.asyncDispose]())

test('processes that request a secret concurrently get the same secret', async () => {
  const buses = await Promise.all(Array.from({ length: 5 }, () => broker.connect()))
  const secrets = await Promise.all(buses.map((bus) => bus.secret('one')))
  expect(new Set(secrets.map((secret) => Buffer.from(secret).toString('hex'))).size).toBe(1)
  expect(secrets[0]).toHaveLength(32)
  expect(await buses[0]?.secret('one')).toEqual(secrets[0])
  expect(await buses[0]?.secret('other')).not.toEqual(secrets[0])
})
