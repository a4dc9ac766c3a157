import { createServer } from 'node:net'
import { inspect } from 'node:util'
import type { BusError } from '@mcp-host/contracts'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { Bus } from './bus.ts'
import { connectBus } from './nats-bus.ts'

async function connectError(url: string): Promise<unknown> {
  try {
    await using _ = await connectBus({ url, name: 'test', logger: silentLogger })
  } catch (error) {
    return error
  }
  throw new Error('the connection succeeded')
}

/** A server that sends this information, as a nats-server does, and answers pings. */
async function startFakeServer(
  info: object,
  answer = 'PONG',
): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify({ max_payload: 1_048_576, headers: true, ...info })}\r\n`)
    socket.on('data', (data) => {
      if (data.toString().includes('PING')) socket.write(`${answer}\r\n`)
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `nats://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('several processes may connect to an empty broker at once', async () => {
  await using broker = await startBroker()
  const names = ['gateway', 'orchestrator', 'worker', 'supervisor']
  const ids = (await Promise.all(names.map((name) => broker.connect(name)))).map(({ id }) => id)
  expect(new Set(ids).size).toBe(4)
  expect(ids[0]).toMatch(/^gateway-[0-9a-f]{8}$/)
})

test('an error for a wrong token says so without the token', async () => {
  await using broker = await startBroker()
  const url = broker.url.replace(/\/\/.*@/, '//wrong-token@')
  const error = await connectError(url)
  expect(error).toMatchObject({ code: 'denied' })
  expect(String(error)).toMatch(
    /nats-server at nats:\/\/127\.0\.0\.1:\d+: it refuses our credentials/,
  )
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('wrong-token')
})

test('an error for a broker that does not answer has its address without the token', async () => {
  const error = await connectError('nats://my-token@127.0.0.1:1')
  expect(error).toMatchObject({ code: 'unavailable' })
  expect(String(error)).toContain('nats-server at nats://127.0.0.1:1: it does not answer')
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('my-token')
})

test.each([
  ['Authentication Timeout', 'unavailable', 'it does not answer'],
  ['Authorization Violation', 'denied', 'it refuses our credentials'],
])('a broker that answers "%s" is %s', async (answer, code, message) => {
  await using server = await startFakeServer({ version: '2.12.0' }, `-ERR '${answer}'`)
  const error = await connectError(server.url)
  expect(error).toMatchObject({ code })
  expect(String(error)).toContain(message)
})

test('an error for an invalid URL does not contain the URL', async () => {
  const error = await connectError('nats://my-token@127.0.0.1:99999')
  expect(error).toMatchObject({ code: 'invalid' })
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('my-token')
})

test('an error for a broker without JetStream has the remedy', async () => {
  await using server = await startFakeServer({ version: '2.12.0' })
  expect(await connectError(server.url)).toMatchObject({
    code: 'invalid',
    message: `nats-server at ${server.url} runs without JetStream; start it with -js`,
  })
})

test.each(['2.10.29', '1.4.1'])('a broker of version %s is too old', async (version) => {
  await using server = await startFakeServer({ version, jetstream: true })
  expect(await connectError(server.url)).toMatchObject({
    code: 'invalid',
    message: `nats-server at ${server.url} is ${version}; 2.11 or newer is needed`,
  })
})

describe('a bus that reconnects', () => {
  let stack: AsyncDisposableStack
  let proxy: BrokerProxy
  let bus: Bus
  let refusals: BusError[]
  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    const broker = stack.use(await startBroker())
    proxy = stack.use(await BrokerProxy.open(broker.url))
    refusals = []
    const onRefused = (error: BusError): void => void refusals.push(error)
    const options = { url: proxy.url, name: 'test', logger: silentLogger, onRefused }
    bus = stack.use(await connectBus(options))
  })
  afterEach(() => stack.disposeAsync())

  /** Refuses the next connections of the bus, and waits until it has another one. */
  async function refuse(error: string, times: number): Promise<void> {
    proxy.refuse(error, times)
    await eventually(() => proxy.refusals === 0)
    await eventually(async () => {
      try {
        await bus.ping()
        return true
      } catch {
        // It is still without a connection.
        return false
      }
    })
  }

  test('a bus returns after time-outs of a busy broker', async () => {
    await refuse('Authentication Timeout', 3)
    expect(refusals).toEqual([])
  })

  test('a bus reports no refusals between which it was connected', async () => {
    await refuse('Authorization Violation', 1)
    await refuse('Authorization Violation', 1)
    expect(refusals).toEqual([])
  })

  test.each(['Authorization Violation', 'User Authentication Expired'])(
    'a bus reports once that its credential is refused with "%s"',
    async (error) => {
      await refuse(error, 3)
      const message = expect.stringContaining('it refuses our credentials; see NATS_URL')
      expect(refusals).toMatchObject([{ code: 'denied', message }])
    },
  )
})
