import { beforeEach, expect, test } from 'vitest'
import { SharedRequests } from './shared-requests.ts'
import type { ServerReply, OutgoingRequest, Servers } from '../servers.ts'

const OK: ServerReply = { type: 'result', json: new Uint8Array() }
const ignore = (): void => undefined

let sent: OutgoingRequest[]
let replies: PromiseWithResolvers<ServerReply>[]
let servers: SharedRequests
beforeEach(() => {
  sent = []
  replies = []
  // SharedRequests uses only this method.
  servers = new SharedRequests({
    send(_: string, request: OutgoingRequest) {
      sent.push(request)
      replies.push(Promise.withResolvers())
      return replies.at(-1)!.promise
    },
  } as Partial<Servers> as Servers)
})

const read = (more: Partial<OutgoingRequest> = {}, server = 's'): Promise<ServerReply> =>
  servers.send(server, {
    method: 'resources/read',
    params: { uri: 'mem://1' },
    era: 'modern',
    isReadOnly: true,
    ...more,
  })

test('identical concurrent reads are coalesced', async () => {
  const all = [read(), read(), read()]
  expect(sent).toHaveLength(1)
  replies[0]?.resolve(OK)
  expect(await Promise.all(all)).toEqual([OK, OK, OK])
  void read()
  expect(sent).toHaveLength(2)
})

test('the error of coalesced reads rejects all and is not cached', async () => {
  const all = [read(), read()]
  replies[0]?.reject(new Error('no'))
  expect(await Promise.allSettled(all)).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  void read()
  expect(sent).toHaveLength(2)
})

test.each<[string, Partial<OutgoingRequest>, string?]>([
  ['another resource', { params: { uri: 'mem://2' } }],
  ['another server', {}, 'other'],
  ['another method', { method: 'prompts/get' }],
  ['another era', { era: 'legacy' }],
  ['a request that may change something', { isReadOnly: false }],
  ['a dedicated process', { isOwn: true }],
  ['a client with a session', { client: { id: 'c', capabilities: {} } }],
  [
    'a caller with a listener',
    { listener: { onNotice: ignore, onAsk: ignore, onResumable: ignore } },
  ],
  ['a retry with a requestState', { params: { uri: 'mem://1', requestState: 'x' } }],
])('a request for %s is not coalesced', (_, more, server) => {
  void read()
  void read(more, server)
  void read(more, server)
  expect(sent.length).toBeGreaterThan(1)
})

test('a coalesced read is aborted when its last caller has left', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const first = read({ signal: one.signal })
  const second = read({ signal: other.signal })
  one.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  expect(sent[0]?.signal?.aborted).toBe(false)
  other.abort(new Error('left, too'))
  await expect(second).rejects.toThrow('left, too')
  expect(sent[0]?.signal?.aborted).toBe(true)
  void read()
  expect(sent).toHaveLength(2)
})

test('a coalesced read with a caller that cannot leave is not aborted', async () => {
  const one = new AbortController()
  const first = read({ signal: one.signal })
  const second = read()
  one.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  expect(sent[0]?.signal?.aborted).toBe(false)
  replies[0]?.resolve(OK)
  expect(await second).toBe(OK)
})
