import type { ConnectionInfo, SessionId } from '@mcp-host/contracts'
import { beforeEach, expect, test, vi } from 'vitest'
import type { LiveConnectionsDeps } from './live-connections.ts'
import { LiveConnections } from './live-connections.ts'

const session = 'sessionsessionsession' as SessionId
let listeners: Map<string, ((payload: unknown) => void)[]>
beforeEach(() => {
  listeners = new Map()
})

/** The live connections of a gateway with these sockets, on a shared bus. */
function gateway(id: string, sockets: Partial<ConnectionInfo & { sessionId: SessionId }>[]) {
  const bus = {
    id,
    emit: ({ subject }: { subject: string }, _: unknown, payload: unknown) => {
      for (const listener of listeners.get(subject) ?? []) listener(payload)
    },
    listen: (
      { subject }: { subject: string },
      _: unknown,
      listener: (payload: unknown) => void,
    ) => {
      listeners.set(subject, [...(listeners.get(subject) ?? []), listener])
      return { [Symbol.dispose]: () => undefined }
    },
  }
  const at = new Date(1_000)
  const connections = sockets.map((socket) => ({
    connectedAt: at,
    lastActiveAt: at,
    sessionId: session,
    userAgent: 'x'.repeat(1_000),
    ...socket,
  }))
  // LiveConnections uses only these members.
  return new LiveConnections({ bus, connections } as unknown as LiveConnectionsDeps)
}

test('the sockets of a session are found at all gateways', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const first = gateway('a', [{ clientId: 'one' }, { clientId: 'x', sessionId: 'o' as SessionId }])
  gateway('b', [{ clientId: 'two' }])
  const found = first.of(session)
  vi.useRealTimers()
  expect(await found).toEqual(
    ['one', 'two'].map((clientId, index) => ({
      clientId,
      gateway: ['a', 'b'][index],
      connectedAt: 1_000,
      lastActiveAt: 1_000,
      userAgent: 'x'.repeat(200),
    })),
  )
})
