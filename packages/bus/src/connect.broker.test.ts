import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { startBroker } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { connectBus } from './nats-bus.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }

async function failure(url: string): Promise<unknown> {
  try {
    await using _ = await connectBus({ url, name: 'test', logger })
  } catch (error) {
    return error
  }
  throw new Error('it did connect')
}

/** A port that answers like a nats-server with this information about itself. */
async function pretend(info: object): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify({ max_payload: 1_048_576, headers: true, ...info })}\r\n`)
    socket.on('data', (data) => {
      if (data.toString().includes('PING')) socket.write('PONG\r\n')
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

test('several processes may connect at once to a broker that is new', async () => {
  await using broker = await startBroker()
  const names = ['gateway', 'orchestrator', 'worker', 'supervisor']
  const ids = (await Promise.all(names.map((name) => broker.connect(name)))).map(({ id }) => id)
  expect(new Set(ids).size).toBe(4)
  expect(ids[0]).toMatch(/^gateway-[0-9a-f]{8}$/)
})

test('a wrong token is refused in clear words, which do not say the token', async () => {
  await using broker = await startBroker()
  const url = broker.url.replace(/\/\/.*@/, '//wrong-token@')
  const error = await failure(url)
  expect(error).toMatchObject({ code: 'denied' })
  expect(String(error)).toMatch(
    /nats-server at nats:\/\/127\.0\.0\.1:\d+: it refuses our credentials/,
  )
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('wrong-token')
})

test('a server that is not there is named, without the token', async () => {
  const error = await failure('nats://my-token@127.0.0.1:1')
  expect(error).toMatchObject({ code: 'unavailable' })
  expect(String(error)).toContain('nats-server at nats://127.0.0.1:1: it does not answer')
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('my-token')
})

test('a URL that is none is refused without being shown', async () => {
  const error = await failure('nats://my-token@127.0.0.1:99999')
  expect(error).toMatchObject({ code: 'invalid' })
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('my-token')
})

test('a server without JetStream is refused, with what to do', async () => {
  await using server = await pretend({ version: '2.12.0' })
  expect(await failure(server.url)).toMatchObject({
    code: 'invalid',
    message: `nats-server at ${server.url} runs without JetStream; start it with -js`,
  })
})

test.each(['2.10.29', '1.4.1'])('a server of version %s is too old', async (version) => {
  await using server = await pretend({ version, jetstream: true })
  expect(await failure(server.url)).toMatchObject({
    code: 'invalid',
    message: `nats-server at ${server.url} is ${version}; 2.11 or newer is needed`,
  })
})
