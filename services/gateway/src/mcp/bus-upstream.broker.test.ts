import type { Bus } from '@mcp-host/bus'
import type { McpRequestHead, McpReplyHead, ResumeHead } from '@mcp-host/contracts'
import { BusError, mcpRequestControl, mcpRequest, resumeRequest } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { BusUpstream } from './bus-upstream.ts'
import type {
  ResumePoint,
  ForwardedReply,
  ForwardedRequest,
  ReplyListener,
  ResumedRequest,
} from './core/upstream.ts'
import { MOVED } from './core/upstream.ts'

let broker: Broker
let supervisor: Bus
let upstream: BusUpstream
beforeAll(async () => {
  broker = await startBroker()
  supervisor = await broker.connect('supervisor')
  upstream = new BusUpstream(await broker.connect('gateway'))
})
afterAll(() => broker[Symbol.asyncDispose]())

type Handler<Head> = (
  question: { readonly head: Head },
  tell: (head: McpReplyHead, body: string) => void,
) => Promise<{ readonly head: McpReplyHead; readonly body: string }>

let pass: Handler<McpRequestHead>
let resume: Handler<ResumeHead>
let resumed: ResumeHead[]
let controls: unknown[]
let served: DisposableStack
beforeEach(async () => {
  resumed = []
  controls = []
  served = new DisposableStack()
  served.use(supervisor.serveOpaque(mcpRequest, { server: 's' }, (...given) => pass(...given)))
  const params = { supervisor: supervisor.id }
  served.use(
    supervisor.serveOpaque(resumeRequest, params, (...given) => {
      resumed.push(given[0].head)
      return resume(...given)
    }),
  )
  served.use(
    supervisor.listen(mcpRequestControl, { server: 's' }, (each) => void controls.push(each)),
  )
  // Else the question could be there before the broker knows who answers.
  await supervisor.ping()
})
afterEach(() => served.dispose())

const notice = (number: number) => ({ type: 'notice', method: 'm', number }) as const
const result = (number: number) => ({ head: { type: 'result', number } as const, body: '{}' })
const keep = () => ({ type: 'kept', supervisor: supervisor.id }) as const

let told: (number | undefined)[]
let places: ResumePoint[]
beforeEach(() => {
  told = []
  places = []
})
const listener: ReplyListener = {
  onNotice: (_method, _params, number) => void told.push(number),
  onAsk: () => undefined,
  onResumable: (kept) => void places.push(kept),
}
const ask = (more: Partial<ForwardedRequest> = {}): Promise<ForwardedReply> =>
  upstream.forward('s', {
    method: 'tools/call',
    params: {},
    era: 'legacy',
    client: { id: 'ann', capabilities: {} },
    listener,
    isResumable: true,
    ...more,
  })
const comeBack = (kept: ResumePoint, more: Partial<ResumedRequest> = {}): Promise<ForwardedReply> =>
  upstream.resume(kept, {
    client: 'ann',
    after: 2,
    signal: new AbortController().signal,
    listener,
    ...more,
  })
const place = (): ResumePoint => ({ supervisor: supervisor.id, server: 's', id: 'g-1' })

test('a request of who can come back says so, and where it is kept is told', async () => {
  const heads: McpRequestHead[] = []
  pass = async ({ head }, tell) => {
    heads.push(head)
    tell(keep(), '')
    tell(notice(1), '{}')
    return result(2)
  }
  expect(await ask()).toMatchObject({ type: 'result' })
  expect(heads).toMatchObject([{ isResumable: true }])
  expect(places).toEqual([{ supervisor: supervisor.id, server: 's', id: heads[0]?.id }])
  expect(told).toEqual([1])
  expect(resumed).toEqual([])
})

test.each<[string, Handler<McpRequestHead>]>([
  [
    'a notice',
    async (_, tell) => {
      tell(keep(), '')
      tell(notice(1), '{}')
      tell(notice(3), '{}')
      return result(4)
    },
  ],
  [
    'the last notice',
    async (_, tell) => {
      tell(keep(), '')
      tell(notice(1), '{}')
      return result(4)
    },
  ],
  [
    'the answer',
    async (_, tell) => {
      tell(keep(), '')
      tell(notice(1), '{}')
      throw new BusError('deadline', 'silence')
    },
  ],
])('what got lost on the way is asked for again: %s', async (_, handler) => {
  pass = handler
  resume = async (_question, tell) => {
    tell({ type: 'running' }, '')
    tell(notice(2), '{}')
    tell(notice(3), '{}')
    return result(4)
  }
  expect(await ask()).toMatchObject({ type: 'result' })
  expect(told).toEqual([1, 2, 3])
  expect(resumed).toMatchObject([{ client: 'ann', after: 1 }])
})

test('what is lost and not kept has an end that nobody knows', async () => {
  pass = async () => {
    throw new BusError('deadline', 'silence')
  }
  await expect(ask()).rejects.toMatchObject({ data: { reason: 'unknown-outcome' } })
  expect(resumed).toEqual([])
})

test('a stored result is left to who may come back, else removed', async () => {
  const json = new TextEncoder().encode('{"a":1}')
  const [kept, read] = await Promise.all([supervisor.blobs.put(json), supervisor.blobs.put(json)])
  for (const { key, bytes } of [kept, read]) {
    pass = async (_, tell) => {
      if (key === kept.key) tell(keep(), '')
      return { head: { type: 'stored', key, bytes }, body: '' }
    }
    expect((await ask()).json).toEqual(json)
  }
  await eventually(async () => (await supervisor.blobs.find(read.key)) === undefined)
  expect(await supervisor.blobs.find(kept.key)).toBeDefined()
})

test('who comes back is told the rest, also where the oldest is not kept any more', async () => {
  resume = async (_, tell) => {
    tell({ type: 'running' }, '')
    tell(notice(7), '{}')
    return result(8)
  }
  expect(await comeBack(place())).toMatchObject({ type: 'result' })
  expect(told).toEqual([7])
  expect(resumed).toEqual([{ id: 'g-1', client: 'ann', after: 2 }])
})

test('who was overtaken is told so', async () => {
  resume = async () => ({ head: { type: 'moved' }, body: '' })
  await expect(comeBack(place())).rejects.toBe(MOVED)
})

test('who comes back to nothing is told that nobody knows', async () => {
  resume = async () => {
    throw new BusError('not-found', 'not kept')
  }
  await expect(comeBack(place())).rejects.toMatchObject({ data: { reason: 'unknown-outcome' } })
})

test('a request can be cancelled by who comes back, once it is known to be theirs', async () => {
  const left = new AbortController()
  resume = ({ head }, tell) => {
    if (head.id === 'g-1') tell(notice(3), '{}')
    return new Promise(() => undefined)
  }
  const mine = comeBack(place(), { signal: left.signal })
  const another = comeBack({ ...place(), id: 'of-another' }, { signal: left.signal })
  await eventually(() => resumed.length === 2 && told.length === 1)
  left.abort(new Error('left'))
  await expect(mine).rejects.toThrow('left')
  await expect(another).rejects.toThrow('left')
  await eventually(() => controls.length > 0)
  await supervisor.ping()
  expect(controls).toEqual([{ action: 'cancel', id: 'g-1' }])
})
