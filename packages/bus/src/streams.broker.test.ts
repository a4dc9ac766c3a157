import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { startBroker } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { connectNats } from './connect.ts'
import { ensureBlobs, ensureBucket } from './streams.ts'

type Create = (connection: NatsConnection) => Promise<void>

const createBucket: Create = async (connection) => {
  const manager = await jetstreamManager(connection)
  await ensureBucket(jetstream(connection), manager, 'THINGS', { replicas: 1 })
}
const createBlobs: Create = async (connection) => {
  const manager = await jetstreamManager(connection)
  await ensureBlobs(jetstream(connection), manager, { replicas: 1, maxAgeMs: 60_000 })
}

/** Calls `then` between the first answered question whether a stream exists and the next request. */
function interrupt(connection: NatsConnection, then: () => Promise<void>): void {
  const request = connection.request.bind(connection)
  connection.request = async (subject, ...rest) => {
    const reply = await request(subject, ...rest)
    if (!subject.includes('STREAM.INFO')) return reply
    connection.request = request
    await then()
    return reply
  }
}

test.each([
  ['a bucket', createBucket],
  ['the store of large values', createBlobs],
])('another process creates %s meanwhile', async (_name, create) => {
  await using broker = await startBroker()
  await using first = await connectNats(broker.url, 'first')
  await using second = await connectNats(broker.url, 'second')
  let created = 0
  interrupt(first, async () => {
    await create(second)
    created += 1
  })
  await create(first)
  expect(created).toBe(1)
})
