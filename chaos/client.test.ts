import { eventually, FakeGateway } from '@mcp-host/testkit'
import { afterEach, expect, test } from 'vitest'
import { StreamCheck } from './check/stream-check.ts'
import type { ClientOptions } from './client.ts'
import { Client } from './client.ts'

const turn = (id: string, payload: object): object => ({ type: 'turn', id, payload })

const newCheck = (): StreamCheck => new StreamCheck('c', new Map())

let stack = new AsyncDisposableStack()
afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

async function connected(
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; gateways: [FakeGateway, FakeGateway] }> {
  const start = async (): Promise<FakeGateway> => stack.use(await FakeGateway.start())
  const gateways: [FakeGateway, FakeGateway] = [await start(), await start()]
  const urls = gateways.map(({ url }) => url)
  const client = stack.use(new Client({ urls, first: 0, check: newCheck(), ...options }))
  await gateways[0].welcome()
  await eventually(() => client.start)
  return { client, gateways }
}

test('a client goes on at another gateway with its last id, and counts only unexpected ends as breaks', async () => {
  const { client, gateways } = await connected()
  const [one, other] = gateways
  void client.say('m1', 'hello')
  void client.say('m2', 'hello')
  await eventually(() => one.messages.length === 2)
  one.accept('m1')
  one.send(turn('2.1.2.0', { state: 'started', messageId: 'm1' }))
  await eventually(() => client.received.length === 1)
  client.drop()
  await other.welcome({ state: 'reconnected' })
  expect(other.queries).toEqual(['/ws?sessionId=S&after=2.1.2.0'])
  await eventually(() => other.messages.length > 0)
  expect(other.messages).toEqual(['m2'])
  expect(client.breaks).toEqual([])
  other.sockets[0]?.close(1012)
  await one.welcome({ sockets: 2 })
  await eventually(() => one.messages.length === 3)
  expect(client.breaks).toEqual([])
  one.sockets[1]?.terminate()
  await eventually(() => client.breaks.length === 1)
})

test('a message has ended when its own turn has', async () => {
  const { client, gateways } = await connected()
  const ends: string[] = []
  for (const id of ['m1', 'm2']) void client.say(id, 'hello').then(() => ends.push(id))
  const end = { state: 'done', outcome: 'completed' }
  gateways[0].send(turn('2.1.2.0', { state: 'started', messageId: 'm1' }), turn('3.1.-.0', end))
  await eventually(() => ends.length > 0)
  expect(ends).toEqual(['m1'])
})

test('a client reports refusals', async () => {
  const { client, gateways } = await connected()
  const [one] = gateways
  void client.say('m1', 'hello')
  await eventually(() => one.messages.length === 1)
  one.refuse('m1', 'invalid')
  await eventually(() => client.faults.length === 1)
  void client.say('m2', 'hello')
  await eventually(() => one.messages.length === 2)
  one.accept('m2')
  await eventually(() => client.accepted.has('m2'))
  client.cancel('m2')
  await eventually(() => one.received.some(({ type }) => type === 'cancel'))
  one.refuse('m2', 'internal')
  await eventually(() => client.faults.length === 2)
  one.sockets[0]?.close(1008, 'after is not an event')
  await eventually(() => client.faults.length === 3)
  expect(client.faults[2]?.detail).toContain('after is not an event')
})

test('a client leaves a gateway that sends nothing', async () => {
  const { gateways } = await connected()
  await eventually(() => gateways[1].sockets.length === 1)
  expect(gateways[0].received.map(({ type }) => type)).toContain('ping')
})

test('a client restarts its stream when its last event was lost, and resends unaccepted messages', async () => {
  const { client, gateways } = await connected({ makeCheck: newCheck })
  const [one, other] = gateways
  void client.say('m1', 'hello')
  await eventually(() => one.messages.length === 1)
  one.send(turn('2.1.2.0', { state: 'started', messageId: 'm0' }))
  await eventually(() => client.received.length === 1)
  one.sockets[0]?.close(1011, 'reconnect with the last id')
  await eventually(() => other.sockets.length === 1)
  expect(other.queries).toEqual(['/ws?sessionId=S&after=2.1.2.0'])
  other.sockets[0]?.close(1008, 'query: after was lost when data was damaged; connect without it')
  await eventually(() => one.sockets.length === 2)
  expect(one.queries.at(-1)).toBe('/ws?sessionId=S')
  await one.welcome({ sockets: 2, id: '9.9.-.0' })
  await eventually(() => one.messages.length === 2)
  expect(client.restarts).toEqual([{ lost: '2.1.2.0', index: 1, from: '9.9.-.0' }])
  expect([client.checks.length, client.check.running]).toEqual([2, undefined])
  expect(client.faults).toEqual([])
  client.drop()
  await eventually(() => other.sockets.length === 2)
  expect(other.queries.at(-1)).toBe('/ws?sessionId=S&after=9.9.-.0')
})

test('a client gives up the turns of accepted messages that were sent before a time', async () => {
  const { client, gateways } = await connected()
  const ends: string[] = []
  for (const id of ['m1', 'm2']) void client.say(id, 'hello').then(() => ends.push(id))
  gateways[0].accept('m1')
  await eventually(() => client.accepted.has('m1'))
  client.giveUp(0)
  expect(client.givenUp.size).toBe(0)
  client.giveUp(performance.now() + 1)
  await eventually(() => ends.length > 0)
  expect([ends, [...client.givenUp]]).toEqual([['m1'], ['m1']])
})
