import type { McpRequestHead, McpReplyHead } from '@mcp-host/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SendPart } from './client-questions.ts'
import type { ResumableRequestsDeps } from './resumable-requests.ts'
import { ResumableRequests } from './resumable-requests.ts'
import type { McpReply } from './serve-request.ts'

const LIMITS = { requestBytes: 3_000, bytes: 8_000, storedBytes: 10_000 }
const OK: McpReply = { head: { type: 'result' }, body: '{}' }

type SentParts = [part: McpReplyHead, body: string][]

let requests: ResumableRequests
/** The keys that were removed from the object store. */
let removed: string[]
beforeEach(() => {
  vi.useFakeTimers()
  removed = []
  const blobs = { remove: async (key: string) => void removed.push(key) }
  // ResumableRequests uses only these members.
  const bus = { id: 'sup-1', blobs } as unknown as ResumableRequestsDeps['bus']
  requests = new ResumableRequests({ bus }, LIMITS)
})
afterEach(() => {
  requests[Symbol.dispose]()
  vi.useRealTimers()
})

const head = (id = 'a'): McpRequestHead => ({
  method: 'tools/call',
  id,
  era: 'legacy',
  isResumable: true,
  client: { id: 'ann', capabilities: {} },
})

/** A request whose notices, server requests and end the test controls. */
function run(requestHead: McpRequestHead = head()) {
  const sent: SentParts = []
  const ended = Promise.withResolvers<McpReply>()
  let send: SendPart = () => undefined
  const answer = requests.run(
    requestHead,
    (...part) => void sent.push(part),
    async (to) => {
      send = to
      return ended.promise
    },
  )
  const notice = (body: string): void => send({ type: 'notice', method: 'm' }, body)
  const ask = (body: string): void => send({ type: 'ask', ask: 's.1', method: 'm' }, body)
  return { sent, answer, notice, ask, ...ended, send: (part: McpReplyHead) => send(part, '') }
}

/** Resumes a request as its caller. */
function resume(after = 0, id = 'a', client = 'ann') {
  const sent: SentParts = []
  const answer = requests.resume({ id, client, after }, (...part) => void sent.push(part))
  return { sent, answer }
}

const bodiesOf = (sent: SentParts): string[] =>
  sent.flatMap(([, body]) => (body === '' ? [] : [body]))
const running: SentParts[number] = [{ type: 'running' }, '']
const resumable: SentParts[number] = [{ type: 'kept', supervisor: 'sup-1' }, '']

/** A resumable request that was answered. */
async function answered(id: string, { head: answer = OK.head, bytes = 0 } = {}): Promise<void> {
  const request = run(head(id))
  await vi.advanceTimersByTimeAsync(250)
  request.resolve({ head: answer, body: 'x'.repeat(bytes) })
  await request.answer
}

describe('requests that are not resumable', () => {
  test('a request that is answered soon and sends nothing before is not kept', async () => {
    const { answer, sent, resolve, send } = run()
    await vi.advanceTimersByTimeAsync(249)
    send({ type: 'running' })
    resolve(OK)
    expect(await answer).toEqual(OK)
    await vi.advanceTimersByTimeAsync(1)
    expect(sent).toEqual([running])
    expect(requests.size).toBe(0)
  })

  test.each<[string, Partial<McpRequestHead>]>([
    ['cannot resume', { isResumable: false }],
    ['has no session', { client: undefined }],
  ])('a request of a caller that %s is not kept', async (_, more) => {
    const { answer, sent, notice, resolve } = run({ ...head(), ...more })
    notice('1')
    await vi.advanceTimersByTimeAsync(250)
    resolve(OK)
    expect(await answer).toEqual(OK)
    expect(sent).toEqual([[{ type: 'notice', method: 'm' }, '1']])
    expect(requests.size).toBe(0)
  })
})

test('a long request becomes resumable, and its reply is kept for a minute', async () => {
  const { answer, sent, resolve } = run()
  await vi.advanceTimersByTimeAsync(250)
  expect(sent).toEqual([resumable])
  await vi.advanceTimersByTimeAsync(3_600_000)
  resolve(OK)
  const numbered = { head: { type: 'result', number: 1 }, body: '{}' }
  expect(await answer).toEqual(numbered)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(await resume().answer).toEqual(numbered)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(() => resume()).toThrow('not kept')
  expect(requests.size).toBe(0)
})

test('a request becomes resumable with its first notice, and its parts are numbered', async () => {
  const { answer, sent, notice, ask, send, resolve } = run()
  notice('1')
  ask('2')
  send({ type: 'running' })
  resolve(OK)
  expect(await answer).toMatchObject({ head: { number: 3 } })
  expect(sent).toEqual([
    resumable,
    [{ type: 'notice', method: 'm', number: 1 }, '1'],
    [{ type: 'ask', ask: 's.1', method: 'm', number: 2 }, '2'],
    running,
  ])
})

test('a caller that resumes gets the missed and later parts, its former connection no more', async () => {
  const first = run()
  for (const body of ['1', '2', '3']) first.notice(body)
  const second = resume(1)
  expect(await first.answer).toEqual({ head: { type: 'moved' }, body: '' })
  first.notice('4')
  const third = resume(3)
  first.notice('5')
  first.resolve(OK)
  expect(await second.answer).toMatchObject({ head: { type: 'moved' } })
  expect(await third.answer).toMatchObject({ head: { type: 'result', number: 6 } })
  expect([first, second, third].map(({ sent }) => bodiesOf(sent))).toEqual([
    ['1', '2', '3'],
    ['2', '3', '4'],
    ['4', '5'],
  ])
  // The first part confirms that the request still runs.
  expect([second.sent[0], third.sent[0]]).toEqual([running, running])
})

test('a request cannot be resumed by another client', async () => {
  const { answer, notice, sent, resolve } = run()
  notice('1')
  expect(() => resume(0, 'a', 'bob')).toThrow('not kept')
  notice('2')
  resolve(OK)
  expect(await answer).toMatchObject({ head: { type: 'result' } })
  expect(bodiesOf(sent)).toEqual(['1', '2'])
})

test('a failed request rejects for its caller and when it is resumed', async () => {
  const { answer, notice, reject } = run()
  notice('1')
  reject(new Error('broke'))
  await expect(answer).rejects.toThrow('broke')
  await expect(resume().answer).rejects.toThrow('broke')
})

test('a request that is sent again replaces the failed one with its id', async () => {
  const failed = run()
  failed.notice('1')
  const again = run()
  again.notice('2')
  failed.reject(new Error('broke'))
  await expect(failed.answer).rejects.toThrow('broke')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(bodiesOf(resume().sent)).toEqual(['2'])
})

describe('evicted parts and replies', () => {
  test('the oldest notices of a request beyond its limit are evicted, server requests stay', async () => {
    const { notice, ask } = run()
    ask('q')
    for (let index = 0; index < 10; index++) notice(`${index}`.padEnd(800))
    expect(bodiesOf(resume().sent).map((each) => each.trim())).toEqual(['q', '8', '9'])
  })

  test('the oldest reply beyond the limit of all requests is evicted', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await answered(id, { bytes: 2_000 })
    expect(() => resume(0, 'a')).toThrow('not kept')
    for (const id of ['b', 'c', 'd']) expect(await resume(0, id).answer).toHaveProperty('body')
  })

  test('the latest reply is kept even beyond the limit', async () => {
    await answered('a')
    await answered('b', { bytes: 20_000 })
    expect(await resume(0, 'b').answer).toHaveProperty('body')
    expect(requests.size).toBe(1)
  })

  test('an evicted result is removed from the object store', async () => {
    const stored = (key: string) => ({ head: { type: 'stored' as const, key, bytes: 4_000 } })
    for (const id of ['a', 'b', 'c']) await answered(id, stored(`key-${id}`))
    expect(removed).toEqual(['key-a'])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(removed).toEqual(['key-a', 'key-b', 'key-c'])
    expect(requests.size).toBe(0)
  })
})
