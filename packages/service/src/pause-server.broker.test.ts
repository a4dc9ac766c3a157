import { serverPauses } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { pauseServer } from './pause-server.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker[Symbol.asyncDispose]())

test('a pause is not prolonged, and the next one is twice as long, up to a limit', async () => {
  const bus = await broker.connect('orchestrator')
  const deps = { bus, logger: createLogger('test', 'silent') }
  const bucket = await bus.bucket(serverPauses)
  const last = async () => (await bucket.get('s'))?.record ?? { until: 0, times: 0 }
  const lengths: number[] = []
  for (let times = 1; times <= 10; times++) {
    const from = bucket.now()
    // Calls that ended their supervisors at once.
    await Promise.all([pauseServer(deps, 's'), pauseServer(deps, 's')])
    const begun = await last()
    expect(begun.times).toBe(times)
    lengths.push(Math.round((begun.until - from) / 10_000) * 10)
    await pauseServer(deps, 's')
    expect(await last()).toEqual(begun)
    await bucket.put('s', { ...begun, until: bucket.now() - 1 })
  }
  expect(lengths).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600, 600])
})
