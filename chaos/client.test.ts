import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { eventually } from '@mcp-host/testkit'
import { afterEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { StreamCheck } from './check/stream-check.ts'
import type { ClientOptions } from './client.ts'
import { Client } from './client.ts'

/** A gateway that sends only the frames of the test. */
class Gateway implements Disposable {
  readonly sockets: WebSocket[] = []
  readonly queries: string[] = []
  readonly received: { type: string; payload?: { id: string } }[] = []
  readonly #server = new WebSocketServer({ port: 0, host: '127.0.0.1' })

  constructor() {
    this.#server.on('connection', (socket, { url = '' }) => {
      this.sockets.push(socket)
      this.queries.push(url)
      socket.on('message', (data) => this.received.push(JSON.parse((data as Buffer).toString())))
    })
  }

  async listening(): Promise<void> {
    if (this.#server.address() === null) await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get messages(): (string | undefined)[] {
    return this.received.filter(({ type }) => type === 'message').map(({ payload }) => payload?.id)
  }

  send(...frames: object[]): void {
    for (const frame of frames) this.sockets.at(-1)?.send(JSON.stringify(frame))
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.terminate()
    this.#server.close()
  }
}

const welcome = {
  type: 'connection',
  id: '0.0.-.0',
  payload: { state: 'connected', sessionId: 'S' },
}
const accepted = (messageId: string): object => ({ type: 'accepted', payload: { messageId } })
const turn = (id: string, payload: object): object => ({ type: 'turn', id, payload })

const newCheck = (): StreamCheck => new StreamCheck('c', new Map())

let stack = new AsyncDisposableStack()
afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

async function connected(
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; gateways: [Gateway, Gateway] }> {
  const gateways: [Gateway, Gateway] = [stack.use(new Gateway()), stack.use(new Gateway())]
  await Promise.all(gateways.map((each) => each.listening()))
  const urls = gateways.map(({ url }) => url)
  const client = stack.use(new Client({ urls, first: 0, check: newCheck(), ...options }))
  await eventually(() => gateways[0].sockets.length === 1)
  gateways[0].send(welcome)
  await eventually(() => client.start)
  return { client, gateways }
}

test('a client reconnects to another gateway with its last id, and resends unaccepted messages', async () => {
  const { client, gateways } = await connected()
  const [one, other] = gateways
  void client.say('m1', 'hello')
  void client.say('m2', 'hello')
  await eventually(() => one.messages.length === 2)
  one.send(accepted('m1'), turn('2.1.2.0', { state: 'started', messageId: 'm1' }))
  await eventually(() => client.received.length === 1)
  client.drop()
  await eventually(() => other.sockets.length === 1)
  expect(other.queries).toEqual(['/ws?sessionId=S&after=2.1.2.0'])
  other.send({ ...welcome, payload: { state: 'reconnected', sessionId: 'S' } })
  await eventually(() => other.messages.length > 0)
  expect(other.messages).toEqual(['m2'])
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

test('a client resends messages that could not be stored, and reports final refusals', async () => {
  const { client, gateways } = await connected()
  const [one] = gateways
  void client.say('m1', 'hello')
  const refused = (messageId: string, retryable: boolean): object => ({
    type: 'error',
    payload: { code: 'unavailable', message: 'no', retryable, messageId },
  })
  await eventually(() => one.messages.length === 1)
  one.send(refused('m1', true))
  await eventually(() => one.messages.length === 2)
  expect(client.faults).toEqual([])
  one.send(refused('m1', false))
  await eventually(() => client.faults.length === 1)
  one.sockets[0]?.close(1008, 'after is not an event')
  await eventually(() => client.faults.length === 2)
  expect(client.faults[1]?.detail).toContain('after is not an event')
})

test('a client repeats a cancel at another gateway until it is accepted', async () => {
  const { client, gateways } = await connected()
  const [one, other] = gateways
  const cancels = (gateway: Gateway): number =>
    gateway.received.filter(({ type }) => type === 'cancel').length
  void client.say('m1', 'hello')
  one.send(accepted('m1'))
  await eventually(() => client.accepted.has('m1'))
  client.cancel('m1')
  await eventually(() => cancels(one) === 1)
  client.drop()
  await eventually(() => other.sockets.length === 1)
  other.send({ ...welcome, payload: { state: 'reconnected', sessionId: 'S' } })
  await eventually(() => cancels(other) === 1)
  other.send(accepted('m1'), turn('2.1.2.0', { state: 'started', messageId: 'm1' }))
  await eventually(() => client.received.length === 1)
  client.drop()
  await eventually(() => one.sockets.length === 2)
  one.send(welcome)
  void client.say('m2', 'hello')
  await eventually(() => one.messages.includes('m2'))
  expect(cancels(one)).toBe(1)
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
  one.send({ ...welcome, id: '9.9.-.0' })
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
  gateways[0].send(accepted('m1'))
  await eventually(() => client.accepted.has('m1'))
  client.giveUp(0)
  expect(client.givenUp.size).toBe(0)
  client.giveUp(performance.now() + 1)
  await eventually(() => ends.length > 0)
  expect([ends, [...client.givenUp]]).toEqual([['m1'], ['m1']])
})
