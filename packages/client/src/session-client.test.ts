import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { ClientState } from './client-state.ts'
import { SessionClient } from './session-client.ts'

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
