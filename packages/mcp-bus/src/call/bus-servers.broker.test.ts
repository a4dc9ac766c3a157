import type { Bus } from '@mcp-host/bus'
import type { McpRequestHead, McpReplyHead, ResumeHead } from '@mcp-host/contracts'
import { BusError, mcpRequestControl, mcpRequest, resumeRequest } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import {
  type ServerReply,
  type OutgoingRequest,
  MOVED,
  type ReplyListener,
  type ResumedRequest,
  type ResumePoint,
} from '@mcp-host/mcp-endpoint'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { BusServers } from './bus-servers.ts'

let broker: Broker
let supervisor: Bus
let servers: BusServers
beforeAll(async () => {
  broker = await startBroker()
  supervisor = await broker.connect('supervisor')
  servers = new BusServers({
    bus: await broker.connect('gateway'),
    isConfigured: () => true,
    supervisors: () => [],
    pauseServer: () => undefined,
    onRecovered: () => undefined,
  })
})
afterAll(() => broker[Symbol.asyncDispose]())

type Handler<Head> = (
  request: { readonly head: Head },
  send: (head: McpReplyHead, body: string) => void,
) => Promise<{ readonly head: McpReplyHead; readonly body: string }>

let serveRequest: Handler<McpRequestHead>
let resume: Handler<ResumeHead>
let resumed: ResumeHead[]
let controls: unknown[]
let served: DisposableStack
beforeEach(async () => {
  resumed = []
  controls = []
  served = new DisposableStack()
  served.use(
    supervisor.serveOpaque(mcpRequest, { server: 's' }, (...args) => serveRequest(...args)),
  )
  const params = { supervisor: supervisor.id }
  served.use(
    supervisor.serveOpaque(resumeRequest, params, (...args) => {
      resumed.push(args[0].head)
      return resume(...args)
    }),
  )
  served.use(
    supervisor.listen(mcpRequestControl, { server: 's' }, (each) => void controls.push(each)),
  )
  // The ping returns once the broker knows the subscriptions of the supervisor.
  await supervisor.ping()
})
afterEach(() => served.dispose())

const notice = (number: number) => ({ type: 'notice', method: 'm', number }) as const
const result = (number: number) => ({ head: { type: 'result', number } as const, body: '{}' })
const resumable = () => ({ type: 'kept', supervisor: supervisor.id }) as const

/** Numbers of the notices that were received. */
let received: (number | undefined)[]
let resumePoints: ResumePoint[]
beforeEach(() => {
  received = []
  resumePoints = []
})
const listener: ReplyListener = {
  onNotice: (_method, _params, number) => void received.push(number),
  onAsk: () => undefined,
  onResumable: (kept) => void resumePoints.push(kept),
}
const ask = (more: Partial<OutgoingRequest> = {}): Promise<ServerReply> =>
  servers.send('s', {
    method: 'tools/call',
    params: {},
    era: 'legacy',
    client: { id: 'ann', capabilities: {} },
    listener,
    isResumable: true,
    ...more,
  })
const resumeAt = (kept: ResumePoint, more: Partial<ResumedRequest> = {}): Promise<ServerReply> =>
  servers.resume(kept, {
    client: 'ann',
    after: 2,
    signal: new AbortController().signal,
    listener,
    ...more,
  })
const resumePoint = (): ResumePoint => ({ supervisor: supervisor.id, server: 's', id: 'g-1' })

test('a resumable request is marked as such, and its resume point is reported', async () => {
  const heads: McpRequestHead[] = []
  serveRequest = async ({ head }, send) => {
    heads.push(head)
    send(resumable(), '')
    send(notice(1), '{}')
    return result(2)
  }
  expect(await ask()).toMatchObject({ type: 'result' })
  expect(heads).toMatchObject([{ isResumable: true }])
  expect(resumePoints).toEqual([{ supervisor: supervisor.id, server: 's', id: heads[0]?.id }])
  expect(received).toEqual([1])
  expect(resumed).toEqual([])
})

test.each<[string, Handler<McpRequestHead>]>([
  [
    'a notice',
    async (_, send) => {
      send(resumable(), '')
      send(notice(1), '{}')
      send(notice(3), '{}')
      return result(4)
    },
  ],
  [
    'the last notice',
    async (_, send) => {
      send(resumable(), '')
      send(notice(1), '{}')
      return result(4)
    },
  ],
  [
    'the answer',
    async (_, send) => {
      send(resumable(), '')
      send(notice(1), '{}')
      throw new BusError('deadline', 'silence')
    },
  ],
])('a lost message of a resumable request is fetched again: %s', async (_, handler) => {
  serveRequest = handler
  resume = async (_request, send) => {
    send({ type: 'running' }, '')
    send(notice(2), '{}')
    send(notice(3), '{}')
    return result(4)
  }
  expect(await ask()).toMatchObject({ type: 'result' })
  expect(received).toEqual([1, 2, 3])
  expect(resumed).toMatchObject([{ client: 'ann', after: 1 }])
})

test('a lost request that is not resumable has an unknown outcome', async () => {
  serveRequest = async () => {
    throw new BusError('deadline', 'silence')
  }
  await expect(ask()).rejects.toMatchObject({ data: { reason: 'unknown-outcome' } })
  expect(resumed).toEqual([])
})

test('a stored result is kept for a resumable request, else removed', async () => {
  const json = new TextEncoder().encode('{"a":1}')
  const [kept, read] = await Promise.all([supervisor.blobs.put(json), supervisor.blobs.put(json)])
  for (const { key, bytes } of [kept, read]) {
    serveRequest = async (_, send) => {
      if (key === kept.key) send(resumable(), '')
      return { head: { type: 'stored', key, bytes }, body: '' }
    }
    expect((await ask()).json).toEqual(json)
  }
  await eventually(async () => (await supervisor.blobs.find(read.key)) === undefined)
  expect(await supervisor.blobs.find(kept.key)).toBeDefined()
})

test('a stored result that was replaced is not taken for the result', async () => {
  const { key, bytes } = await supervisor.blobs.put(Buffer.from('{"a":1}'))
  const { digest } = await supervisor.blobs.put(Buffer.from('{"a":2}'))
  serveRequest = async () => ({ head: { type: 'stored', key, bytes, digest }, body: '' })
  await expect(ask()).rejects.toThrow(`there is no stored result "${key}" with the digest`)
})

test('a resumed request gets the rest, also when the oldest messages were evicted', async () => {
  resume = async (_, send) => {
    send({ type: 'running' }, '')
    send(notice(7), '{}')
    return result(8)
  }
  expect(await resumeAt(resumePoint())).toMatchObject({ type: 'result' })
  expect(received).toEqual([7])
  expect(resumed).toEqual([{ id: 'g-1', client: 'ann', after: 2 }])
})

test('a request that another connection has resumed ends as moved', async () => {
  resume = async () => ({ head: { type: 'moved' }, body: '' })
  await expect(resumeAt(resumePoint())).rejects.toBe(MOVED)
})

test('a request that is not kept is resumed with an unknown outcome', async () => {
  resume = async () => {
    throw new BusError('not-found', 'not kept')
  }
  await expect(resumeAt(resumePoint())).rejects.toMatchObject({
    data: { reason: 'unknown-outcome' },
  })
})

test('a resumed request is cancelled only after its supervisor has confirmed its client', async () => {
  const left = new AbortController()
  resume = ({ head }, send) => {
    if (head.id === 'g-1') send(notice(3), '{}')
    return new Promise(() => undefined)
  }
  const mine = resumeAt(resumePoint(), { signal: left.signal })
  const another = resumeAt({ ...resumePoint(), id: 'of-another' }, { signal: left.signal })
  await eventually(() => resumed.length === 2 && received.length === 1)
  left.abort(new Error('left'))
  await expect(mine).rejects.toThrow('left')
  await expect(another).rejects.toThrow('left')
  await eventually(() => controls.length > 0)
  await supervisor.ping()
  expect(controls).toEqual([{ action: 'cancel', id: 'g-1' }])
})
