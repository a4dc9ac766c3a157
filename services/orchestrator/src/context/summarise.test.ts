import { setImmediate as nextTick } from 'node:timers/promises'
import type { PromptMessage } from '@mcp-host/contracts'
import { BusError, generationControl, sample } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { call, envelope, reasoning, session, text } from './__fixtures__/facts.ts'
import type { Summary, SummaryDeps } from './summarise.ts'
import { readTokens, summarise } from './summarise.ts'

const maxTokens = { read: 10_000, write: 500 }

let deps: SummaryDeps
let asked: { subject: string; request: unknown; options: { timeoutMs: number } }[]
let warned: unknown[]
/** What workers answer, one after another. */
let replies: (string | Error)[]
let cancelled: AbortController
beforeEach(() => {
  asked = []
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
        asked.push({ subject, request, options })
        const reply = replies.shift() ?? ''
        if (reply instanceof Error) throw reply
        return { content: { type: 'text', text: reply } }
      },
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

test('a model reads who said what, which tools were called and the beginnings of their answers', async () => {
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
  const { messages, maxTokens: write } = sample.request.parse(asked[0]?.request)
  const sent = messages[0]?.content.text ?? ''
  expect(sent).toContain('User: hello\n\nAssistant: hi\n\nAssistant calls test__echo0: {"a":1}')
  expect(sent).toContain('Result of echo: word')
  expect(sent).toContain('Error of echo: broken')
  expect(sent).not.toContain('hm')
  expect(sent.length).toBeLessThan(long.length / 2)
  expect(write).toBe(500)
})

test('workers that are not there yet or have too much to do are asked again', async () => {
  replies = [new BusError('unavailable', 'nobody'), new BusError('exhausted', 'busy'), 'they met']
  expect(await ask([hello])).toMatchObject({ text: 'they met' })
  expect(asked).toHaveLength(3)
  expect(warned).toEqual([])
})

test.each<[string, BusError, number, Summary['state']]>([
  ['does not answer in time', new BusError('deadline', 'late'), 1, 'unable'],
  ['is never there', new BusError('unavailable', 'nobody'), 3, 'busy'],
  ['has too much to do', new BusError('exhausted', 'busy'), 3, 'busy'],
  ['fails', new BusError('internal', 'no'), 1, 'unable'],
])(
  'from a model that %s there is no summary, and the log says why',
  async (_, error, tries, state) => {
    replies = Array.from({ length: 9 }, () => error)
    expect(await ask([hello])).toEqual({ state })
    expect(asked).toHaveLength(tries)
    expect(warned).toMatchObject([{ action: 'summarise', sessionId: session }])
  },
)

test('a model that says nothing has not summarised', async () => {
  expect(await ask([hello])).toEqual({ state: 'unable' })
})

test('what fits by its own count is read whole', async () => {
  replies = ['they met']
  const long: PromptMessage = { role: 'user', text: 'word '.repeat(9_900) }
  expect(readTokens([long])).toBeLessThanOrEqual(maxTokens.read)
  await ask([long])
  expect(sample.request.parse(asked[0]?.request).messages[0]?.content.text).toContain(long.text)
})

test('who waits to ask again stops when the turn is cancelled', async () => {
  replies = [new BusError('unavailable', 'nobody')]
  const summary = ask([hello], 60_000)
  // By then the answer was heard.
  await nextTick()
  cancelled.abort()
  expect(await summary).toEqual({ state: 'busy' })
  expect(asked.map(({ subject }) => subject)).toEqual([sample.subject, generationControl.subject])
})

test('a worker that dies with it does not hold it up: another is asked', async () => {
  const { call: answer } = deps.bus
  let samples = 0
  const callOf = (...given: Parameters<typeof answer>) => {
    if (given[0].subject === generationControl.subject) {
      return Promise.reject(new BusError('unavailable', 'nobody is there'))
    }
    // The first one takes it and is never heard of again.
    return samples++ === 0 ? new Promise<never>(() => undefined) : answer(...given)
  }
  deps = { ...deps, bus: { call: callOf } as unknown as SummaryDeps['bus'] }
  replies = ['they met']
  expect(await ask([hello], 0, 10)).toEqual({ state: 'written', text: 'they met' })
  expect(samples).toBe(2)
})
