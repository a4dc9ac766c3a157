import { setImmediate as nextTick } from 'node:timers/promises'
import type { PromptMessage } from '@mcp-host/contracts'
import { BusError, generationControl, sample } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { call, envelope, reasoning, session, text } from './__fixtures__/facts.ts'
import type { Summary, SummaryDeps } from './summarise.ts'
import { readTokens, summarise } from './summarise.ts'

const maxTokens = { read: 10_000, write: 500 }

let deps: SummaryDeps
/** Requests on the bus. */
let requests: { subject: string; request: unknown; options: { timeoutMs: number } }[]
let warned: unknown[]
/** Answers of workers, in order. */
let replies: (string | Error)[]
let cancelled: AbortController
beforeEach(() => {
  requests = []
  warned = []
  replies = []
  cancelled = new AbortController()
  deps = {
    bus: {
      async call(
        { subject }: { subject: string },
        _: unknown,
        request: unknown,
        options: { timeoutMs: number },
      ) {
        requests.push({ subject, request, options })
        const reply = replies.shift() ?? ''
        if (reply instanceof Error) throw reply
        return { content: { type: 'text', text: reply } }
      },
      // Summaries use only this method.
    } as unknown as SummaryDeps['bus'],
    logger: { warn: (fields: unknown) => warned.push(fields) },
  }
})

function ask(messages: PromptMessage[], pauseMs = 0, watchMs = 10_000): Promise<Summary> {
  const never = new AbortController().signal
  const signals = { cancelled: cancelled.signal, leaving: never, over: never }
  const turn = { session, input: 1, envelope, ...signals }
  return summarise(deps, turn, messages, { maxTokens, pauseMs, watchMs })
}

const hello: PromptMessage = { role: 'user', text: 'hello' }

test('the text to summarise has roles, calls and the beginnings of results', async () => {
  replies = ['  they met \n']
  const long = 'word '.repeat(2_000)
  const summary = await ask([
    hello,
    {
      role: 'assistant',
      content: [reasoning('hm'), text('hi'), { ...call(0), arguments: { a: 1 } }],
    },
    {
      role: 'tool',
      answers: [
        { call: call(0).id, name: 'echo', text: long, isError: false },
        { call: call(0, 1).id, name: 'echo', text: 'broken', isError: true },
      ],
    },
  ])
  expect(summary).toEqual({ state: 'written', text: 'they met' })
  const { messages, maxTokens: write } = sample.request.parse(requests[0]?.request)
  const sent = messages[0]?.content.text ?? ''
  expect(sent).toContain('User: hello\n\nAssistant: hi\n\nAssistant calls test__echo0: {"a":1}')
  expect(sent).toContain('Result of echo: word')
  expect(sent).toContain('Error of echo: broken')
  expect(sent).not.toContain('hm')
  expect(sent.length).toBeLessThan(long.length / 2)
  expect(write).toBe(500)
})

test('a summary is retried while workers are absent or busy', async () => {
  replies = [new BusError('unavailable', 'nobody'), new BusError('exhausted', 'busy'), 'they met']
  expect(await ask([hello])).toMatchObject({ text: 'they met' })
  expect(requests).toHaveLength(3)
  expect(warned).toEqual([])
})

test.each<[string, BusError, number, Summary['state']]>([
  ['does not answer in time', new BusError('deadline', 'late'), 1, 'unable'],
  ['stays absent', new BusError('unavailable', 'nobody'), 3, 'busy'],
  ['is busy', new BusError('exhausted', 'busy'), 3, 'busy'],
  ['fails', new BusError('internal', 'no'), 1, 'unable'],
])('a summary by a worker that %s fails and is logged', async (_, error, tries, state) => {
  replies = Array.from({ length: 9 }, () => error)
  expect(await ask([hello])).toEqual({ state })
  expect(requests).toHaveLength(tries)
  expect(warned).toMatchObject([{ action: 'summarise', sessionId: session }])
})

test('an empty answer is not a summary', async () => {
  expect(await ask([hello])).toEqual({ state: 'unable' })
})

test('a conversation within maxTokens.read is sent whole', async () => {
  replies = ['they met']
  const long: PromptMessage = { role: 'user', text: 'word '.repeat(9_900) }
  expect(readTokens([long])).toBeLessThanOrEqual(maxTokens.read)
  await ask([long])
  expect(sample.request.parse(requests[0]?.request).messages[0]?.content.text).toContain(long.text)
})

test('a cancelled turn ends the pause before a retry', async () => {
  replies = [new BusError('unavailable', 'nobody')]
  const summary = ask([hello], 60_000)
  // After this tick the rejection of the first request has been handled.
  await nextTick()
  cancelled.abort()
  expect(await summary).toEqual({ state: 'busy' })
  expect(requests.map(({ subject }) => subject)).toEqual([
    sample.subject,
    generationControl.subject,
  ])
})

test('a summary whose worker dies is retried at another worker', async () => {
  const { call: answer } = deps.bus
  let samples = 0
  const callOf = (...args: Parameters<typeof answer>) => {
    if (args[0].subject === generationControl.subject) {
      return Promise.reject(new BusError('unavailable', 'nobody answers'))
    }
    // The first request is taken and never answered.
    return samples++ === 0 ? new Promise<never>(() => undefined) : answer(...args)
  }
  // Summaries use only this method.
  deps = { ...deps, bus: { call: callOf } as unknown as SummaryDeps['bus'] }
  replies = ['they met']
  expect(await ask([hello], 0, 10)).toEqual({ state: 'written', text: 'they met' })
  expect(samples).toBe(2)
})
