import { beforeEach, expect, test } from 'vitest'
import { SharedUpstream } from './shared-upstream.ts'
import type { ForwardedReply, ForwardedRequest, Upstream } from './upstream.ts'

const OK: ForwardedReply = { type: 'result', json: new Uint8Array() }
const ignore = (): void => undefined

let asked: ForwardedRequest[]
let ends: PromiseWithResolvers<ForwardedReply>[]
let upstream: SharedUpstream
beforeEach(() => {
  asked = []
  ends = []
  // It passes requests on and does nothing else.
  upstream = new SharedUpstream({
    forward(_: string, request: ForwardedRequest) {
      asked.push(request)
      ends.push(Promise.withResolvers())
      return ends.at(-1)!.promise
    },
  } as Partial<Upstream> as Upstream)
})

const read = (more: Partial<ForwardedRequest> = {}, server = 's'): Promise<ForwardedReply> =>
  upstream.forward(server, {
    method: 'resources/read',
    params: { uri: 'mem://1' },
    era: 'modern',
    isReadOnly: true,
    ...more,
  })

test('what several want to read at the same time is asked for once', async () => {
  const all = [read(), read(), read()]
  expect(asked).toHaveLength(1)
  ends[0]?.resolve(OK)
  expect(await Promise.all(all)).toEqual([OK, OK, OK])
  void read()
  expect(asked).toHaveLength(2)
})

test('its error is told to all, and kept for nobody', async () => {
  const all = [read(), read()]
  ends[0]?.reject(new Error('no'))
  expect(await Promise.allSettled(all)).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  void read()
  expect(asked).toHaveLength(2)
})

test.each<[string, Partial<ForwardedRequest>, string?]>([
  ['another resource', { params: { uri: 'mem://2' } }],
  ['another server', {}, 'other'],
  ['another method', { method: 'prompts/get' }],
  ['another era', { era: 'legacy' }],
  ['what may change something', { isReadOnly: false }],
  ['a process of its own', { isOwn: true }],
  ['a client that may be asked', { client: { id: 'c', capabilities: {} } }],
  [
    'a caller that is told of progress',
    { listener: { onNotice: ignore, onAsk: ignore, onResumable: ignore } },
  ],
  ['a request that goes on', { params: { uri: 'mem://1', requestState: 'x' } }],
])('%s is asked for by itself', (_, more, server) => {
  void read()
  void read(more, server)
  void read(more, server)
  expect(asked.length).toBeGreaterThan(1)
})

test('who leaves takes nothing from the others; the last one ends it', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const first = read({ signal: one.signal })
  const second = read({ signal: other.signal })
  one.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  expect(asked[0]?.signal?.aborted).toBe(false)
  other.abort(new Error('left, too'))
  await expect(second).rejects.toThrow('left, too')
  expect(asked[0]?.signal?.aborted).toBe(true)
  void read()
  expect(asked).toHaveLength(2)
})

test('who cannot leave keeps it under way', async () => {
  const one = new AbortController()
  const first = read({ signal: one.signal })
  const second = read()
  one.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  expect(asked[0]?.signal?.aborted).toBe(false)
  ends[0]?.resolve(OK)
  expect(await second).toBe(OK)
})
