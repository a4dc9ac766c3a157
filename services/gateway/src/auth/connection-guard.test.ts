import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Principal } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { ConnectionGuard } from './connection-guard.ts'

const principal: Principal = {
  id: 'user:ann',
  issuer: 'host',
  method: 'session',
  roles: ['user'],
  scopes: ['chat'],
}
const credential = { kind: 'key', id: 'k1' } as const

test('a request or socket whose credential is not known ends, where clients authenticate', () => {
  const auth = { isOn: true, principalOf: () => principal, credentialOf: () => undefined }
  using guard = new ConnectionGuard(auth)
  using open = new ConnectionGuard({ ...auth, isOn: false })
  const ended: string[] = []
  const response = (name: string) =>
    Object.assign(new EventEmitter(), { destroy: () => ended.push(name) }) as never
  // Only what the guard uses of a request.
  const request = { socket: new EventEmitter() } as IncomingMessage
  guard.watchRequest(response('on'), request, principal)
  open.watchRequest(response('off'), request, principal)
  expect(ended).toEqual(['on'])
  const [known, unknown] = [fakeSocket(), fakeSocket()]
  guard.watch(unknown.socket, request)
  open.watch(known.socket, request)
  expect([unknown.closed, known.closed]).toEqual([[1008], []])
})

/** A socket of which only its end is seen. */
function fakeSocket() {
  const closed: unknown[] = []
  const parts = { resume: () => undefined, close: (code: number) => closed.push(code) }
  const socket = Object.assign(new EventEmitter(), parts, { terminate: () => closed.push('cut') })
  return {
    // Only what the guard uses of a socket.
    socket: socket as unknown as WebSocket,
    closed,
  }
}

test.each<[string, Principal | undefined]>([
  ['was revoked', undefined],
  ['has other roles', { ...principal, roles: ['admin'] }],
])(
  'a socket whose credential %s is closed, and cut when the client is silent',
  async (_, after) => {
    let now: Principal | undefined = principal
    const auth = { isOn: true, principalOf: () => now, credentialOf: () => credential }
    using guard = new ConnectionGuard(auth, 5)
    // Only a key of a map.
    const request = {} as IncomingMessage
    const { socket, closed } = fakeSocket()
    guard.admit(request, { credential, principal })
    guard.watch(socket, request)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(closed).toEqual([])
    now = after
    await eventually(() => closed.length === 2, { limitMs: 5_000 })
    expect(closed).toEqual([1008, 'cut'])
  },
)
