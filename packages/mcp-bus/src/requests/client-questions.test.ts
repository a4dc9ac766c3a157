import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { checkCapability, ClientQuestions } from './client-questions.ts'

const LIMIT_MS = 1_000

let questions: ClientQuestions
/** Ids of the requests that were sent to the client. */
let sentIds: string[]
beforeEach(() => {
  vi.useFakeTimers()
  questions = new ClientQuestions('s')
  sentIds = []
})
afterEach(() => void vi.useRealTimers())

const ask = (signal = new AbortController().signal): Promise<unknown> =>
  questions.ask((each) => void sentIds.push(each), { client: 'c', signal, limitMs: LIMIT_MS })

test('each request to a client is settled by the result or error with its id', async () => {
  const refused = { code: 7, message: 'no', data: { why: 1 } }
  const answers = Promise.allSettled([ask(), ask()])
  questions.answer('s.somebody-else', 'c', { result: { n: 0 } })
  questions.answer(sentIds[0]!, 'another session', { result: { n: 0 } })
  questions.answer(sentIds[1]!, 'c', { result: { n: 2 } })
  questions.answer(sentIds[0]!, 'c', { error: refused })
  expect(await answers).toMatchObject([{ reason: refused }, { value: { n: 2 } }])
  // The prefix routes the answer to this supervisor.
  expect(sentIds).toEqual(sentIds.map(() => expect.stringMatching(/^s\.[\da-f-]{36}$/)))
  expect(vi.getTimerCount()).toBe(0)
})

test('a request to a client is rejected when no answer comes in time', async () => {
  const late = expect(ask()).rejects.toMatchObject({ name: 'ClientRefusal', code: -32_001 })
  let isLate = false
  void late.then(() => (isLate = true))
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1)
  expect(isLate).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await late
})

test('an aborted request to a client rejects with the reason and is not sent afterwards', async () => {
  const control = new AbortController()
  const reason = new Error('cancelled')
  const first = ask(control.signal)
  control.abort(reason)
  await expect(first).rejects.toBe(reason)
  await expect(ask(control.signal)).rejects.toBe(reason)
  expect(sentIds).toHaveLength(1)
})

const FORM = { message: 'who?', requestedSchema: {} }
const URL = { mode: 'url', url: 'http://localhost' }

test.each<[object, string, object?]>([
  [{ sampling: {} }, 'sampling/createMessage'],
  [{ roots: {} }, 'roots/list'],
  [{ elicitation: {} }, 'elicitation/create', FORM],
  [{ elicitation: { form: {} } }, 'elicitation/create', FORM],
  [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', { ...FORM, mode: 'form' }],
  [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', URL],
  [{ elicitation: { url: {} } }, 'elicitation/create', URL],
])('a client with the capabilities %j accepts %s %j', (capabilities, method, params) => {
  expect(() => checkCapability(capabilities, method, params)).not.toThrow()
})

const ALL = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } }

test.each<[object, string, object?]>([
  [{ ...ALL, sampling: undefined }, 'sampling/createMessage'],
  [{ ...ALL, sampling: true }, 'sampling/createMessage'],
  [{ ...ALL, roots: undefined }, 'roots/list'],
  [{ ...ALL, elicitation: undefined }, 'elicitation/create', FORM],
  [{ ...ALL, elicitation: undefined }, 'elicitation/create', URL],
  [{ ...ALL, elicitation: {} }, 'elicitation/create', URL],
  [{ ...ALL, elicitation: { form: {} } }, 'elicitation/create', URL],
  [{ ...ALL, elicitation: { url: {} } }, 'elicitation/create', FORM],
  [ALL, 'tools/call'],
])('a client with the capabilities %j does not accept %s %j', (capabilities, method, params) => {
  const refusal = expect.objectContaining({ name: 'ClientRefusal', code: -32_601 })
  expect(() => checkCapability(capabilities, method, params)).toThrow(refusal)
})
