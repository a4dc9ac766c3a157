import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { eventually, FakeGateway } from '@mcp-host/testkit'
import { afterEach, expect, test, vi } from 'vitest'
import type { ClientState } from './client-state.ts'
import { SessionClient } from './session-client.ts'

let stack = new DisposableStack()
afterEach(() => {
  vi.restoreAllMocks()
  stack.dispose()
  stack = new DisposableStack()
})

/** A client that is connected to the first of two gateways, and tries them in turn. */
async function connected(): Promise<{
  client: SessionClient
  one: FakeGateway
  other: FakeGateway
}> {
  const one = stack.use(await FakeGateway.start())
  const other = stack.use(await FakeGateway.start())
  let attempts = 0
  const url = (): string => (attempts++ % 2 === 0 ? one.url : other.url)
  const client = stack.use(new SessionClient({ url, onEvent: () => undefined }))
  await one.welcome()
  await eventually(() => client.state.state === 'connected')
  return { client, one, other }
}

test('what the host cannot store at the moment is sent again, in its order', async () => {
  const { client, one } = await connected()
  const first = client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 1)
  one.refuse('m1', 'unavailable')
  one.refuse('m1', 'unavailable')
  one.send({ type: 'turn', id: '1.0.-.0', payload: { state: 'started' } })
  await eventually(() => client.lastEventId === '1.0.-.0', { what: 'the refusal was read' })
  const second = client.say('and more', { id: 'm2' })
  await eventually(() => one.messages.length === 3)
  one.refuse('m1', 'deadline')
  one.accept('m2')
  await second.accepted
  await eventually(() => one.messages.length === 4)
  one.accept('m1')
  expect(await first.accepted).toEqual({ duplicate: false })
  expect(one.messages).toEqual(['m1', 'm1', 'm2', 'm1'])
})

test('what the host cannot store for 30 s is refused, and the next message is tried as long', async () => {
  const { client, one } = await connected()
  const { accepted } = client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 1)
  one.refuse('m1', 'unavailable')
  await eventually(() => one.messages.length === 2)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 31_000)
  one.refuse('m1', 'unavailable')
  await expect(accepted).rejects.toMatchObject({ code: 'unavailable' })
  expect(client.unaccepted).toEqual([])
  const again = client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 3)
  one.refuse('m1', 'unavailable')
  await eventually(() => one.messages.length === 4)
  one.accept('m1')
  await again.accepted
})

test.each([
  ['a limit', 'exhausted', undefined],
  ['maintenance', 'unavailable', 'maintenance'],
])('a message that is refused for %s is not sent again', async (_, code, reason) => {
  const { client, one } = await connected()
  const { accepted } = client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 1)
  one.refuse('m1', code, reason)
  await expect(accepted).rejects.toMatchObject({ code })
})

test('a client that is to connect again while it connects has one connection', async () => {
  const one = stack.use(await FakeGateway.start())
  const states: string[] = []
  const client = stack.use(
    new SessionClient({
      url: one.url,
      headers: () => ({ authorization: 'Bearer key' }),
      onEvent: () => undefined,
      onState: ({ state }) => void states.push(state),
    }),
  )
  client.reconnect()
  await one.welcome()
  await eventually(() => client.state.state === 'connected')
  // Longer than the first delay before another attempt.
  await new Promise((resolve) => setTimeout(resolve, 400))
  client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 1)
  expect(states).toEqual(['reconnecting', 'connected'])
  expect(one.sockets).toHaveLength(1)
})

test('a function for the address that fails is asked again', async () => {
  const one = stack.use(await FakeGateway.start())
  let attempts = 0
  const url = (): string => {
    if (attempts++ === 0) throw new Error('no gateway is known yet')
    return one.url
  }
  const client = stack.use(new SessionClient({ url, onEvent: () => undefined }))
  await eventually(() => client.state.state === 'reconnecting')
  expect(client.state).toMatchObject({ reason: 'no gateway is known yet' })
  await one.welcome()
  await eventually(() => client.state.state === 'connected')
})

test('a cancel is repeated at another gateway until it is accepted', async () => {
  const { client, one, other } = await connected()
  const cancels = ({ received }: FakeGateway): number =>
    received.filter(({ type }) => type === 'cancel').length
  const { accepted } = client.say('hello', { id: 'm1' })
  await eventually(() => one.messages.length === 1)
  one.accept('m1')
  await accepted
  client.cancel('m1')
  await eventually(() => cancels(one) === 1)
  client.reconnect()
  await other.welcome({ state: 'reconnected' })
  await eventually(() => cancels(other) === 1)
  other.accept('m1')
  await eventually(() => client.unaccepted.length === 0)
  client.reconnect()
  await one.welcome({ sockets: 2 })
  client.say('hello', { id: 'm2' })
  await eventually(() => one.messages.includes('m2'))
  expect(cancels(one)).toBe(1)
})

test.each([
  ['its socket', undefined],
  ['its ticket', () => ({ authorization: 'Bearer key' })],
])(
  'a host that takes connections and does not answer for %s is tried again',
  async (_, headers) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // a TCP server has a port
    const states: ClientState[] = []
    const client = new SessionClient({
      url: `http://127.0.0.1:${port}`,
      headers,
      connectTimeoutMs: 100,
      onEvent: () => undefined,
      onState: (state) => void states.push(state),
    })
    await vi.waitFor(() => expect(sockets.size).toBeGreaterThan(2), { timeout: 10_000 })
    expect(states[0]).toMatchObject({
      state: 'reconnecting',
      reason: expect.stringMatching(/^no gateway answers/),
    })
    client.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  },
)
