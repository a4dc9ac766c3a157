import type { PromptMessage, ToolCallBlock } from '@mcp-host/contracts'
import type { SessionState, ToolCall } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { call, claim, finished, fold, input, result, settled, text } from './__fixtures__/facts.ts'
import { ResultTexts } from '../results/result-texts.ts'
import { answerResultTool, resultTools } from './result-tools.ts'
import { transcript } from './transcript.ts'

/** Texts in the object store, by key. */
let stored: Map<string, string>
/** Keys that were read from the object store. */
let read: string[]
let results: ResultTexts
beforeEach(() => {
  stored = new Map()
  read = []
  results = new ResultTexts(blobs, 1_000)
})

const blobs = {
  async get(key: string, { digest }: { readonly digest?: string | undefined } = {}) {
    read.push(key)
    const found = stored.get(key)
    if (found === undefined || digest !== 'd')
      throw new BusError('not-found', `there is no stored result "${key}"`)
    return Buffer.from(JSON.stringify({ content: [{ type: 'text', text: found }] }))
  },
}

const blob = (key: string, bytes = 100): { key: string; bytes: number; digest: string } => ({
  key,
  bytes,
  digest: 'd',
})

const long = Array.from({ length: 5_000 }, (_, index) => `line ${index}`).join('\n')
const calls = [0, 1, 2, 3].map((index) => call(0, index))
const [plain, large, refused, open] = calls as [
  ToolCallBlock,
  ToolCallBlock,
  ToolCallBlock,
  ToolCallBlock,
]
const state: SessionState = fold(
  input('a', 'one'),
  claim(1, 0),
  result(0, calls),
  finished(plain, [text(long)]),
  finished(large, [text('beginning'), text('… (the first 9 of many)')], { blob: blob('k') }),
  settled(1, refused, 'refused', 'not run'),
)

function ask(tool: string, args: ToolCall['block']['arguments']): Promise<string> {
  const block = { ...call(9), name: `result__${tool}`, server: 'result', tool, arguments: args }
  return answerResultTool({ results }, state, { block, attempt: 0, starts: [] })
}

test('tools to read results are offered when the prompt has a cut result', () => {
  const cut = transcript(state, 1, { maxResultTokens: 100 })
  expect(resultTools(cut).map(({ safeName, server, tool }) => [safeName, server, tool])).toEqual([
    ['result__read', 'result', 'read'],
    ['result__search', 'result', 'search'],
  ])
  const whole: PromptMessage[] = [{ role: 'user', text: 'about result__read' }]
  expect(resultTools(whole)).toEqual([])
})

test('a result is read in parts that name the offset of the next one', async () => {
  let offset = 0
  let whole = ''
  for (let parts = 0; parts < 100; parts++) {
    const answer = await ask('read', { call: plain.id, offset, length: 1_001 })
    const [, from, to, length, rest, part = ''] =
      /^\[characters (\d+) to (\d+) of (\d+); (.*)\]\n([^]*)$/.exec(answer) ?? []
    expect([from, length]).toEqual([String(offset), String(long.length)])
    whole += part
    offset = Number(to)
    if (rest === 'this is its end') break
    expect(rest).toBe(`it goes on at offset ${offset}`)
  }
  expect(whole).toBe(long)
})

test('a part does not split a character', async () => {
  stored.set('k', `${'x'.repeat(99)}👋${'y'.repeat(200)}`)
  expect(await ask('read', { call: large.id, length: 100 })).toMatch(/x$/)
  expect(await ask('read', { call: large.id, offset: 99, length: 100 })).toMatch(/\n👋y/)
  expect(await ask('read', { call: large.id, offset: 100, length: 100 })).toMatch(/\n👋y/)
})

test.each([
  [{ length: 1_000_000 }, 16_000],
  [{}, 8_000],
  [{ length: 'all' }, 8_000],
  [{ length: 0 }, 100],
  [{ length: '200', offset: -5 }, 200],
])('the arguments %j read %d characters', async (args, length) => {
  const answer = await ask('read', { call: plain.id, ...args })
  expect(answer).toContain(`characters 0 to ${length} of`)
})

test('a part beyond the end states that the result has ended', async () => {
  expect(await ask('read', { call: plain.id, offset: 1_000_000 })).toContain('this is its end')
})

test('a stored result is fetched whole, once for several reads', async () => {
  stored.set('k', 'beginning and all the rest')
  const answers = await Promise.all([
    ask('read', { call: large.id }),
    ask('search', { call: large.id, text: 'REST' }),
  ])
  expect(answers[0]).toContain('beginning and all the rest')
  expect(answers[1]).toContain('[offset 22]')
  expect(read).toEqual(['k'])
})

test('a large result is read without blocking the event loop', async () => {
  const whole = 'é"👋\n'.repeat(500_000)
  stored.set('k', whole)
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  const part = await ask('read', { call: large.id, offset: 2_499_900 })
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(1)
  const head = '[characters 2499900 to 2500000 of 2500000; this is its end]'
  expect(part).toBe(`${head}\n${whole.slice(-100)}`)
})

test('a search ignores case and returns matches with the lines around them', async () => {
  const answer = await ask('search', { call: plain.id, text: 'LINE 499', limit: 2 })
  const [first, second] = [long.indexOf('line 499'), long.indexOf('line 4990')]
  expect(answer).toContain('[2 places')
  expect(answer).toContain(`[offset ${first}]`)
  expect(answer).toContain('line 498\nline 499\nline 500')
  expect(answer).toContain(`[offset ${second}]`)
  expect(answer).toContain(`more from offset ${long.indexOf('line 4991')} on`)
})

test('a search continues from an offset and states when there are no more matches', async () => {
  const offset = long.indexOf('line 4999')
  const answer = await ask('search', { call: plain.id, text: 'line 499', offset })
  expect(answer).toContain(`[1 places in characters ${offset} to ${long.length}; no more]`)
})

test('a search takes its text literally, not as a pattern', async () => {
  stored.set('k', 'a.c abc (a+)+$ [x-y] C:\\dir/{1}|^')
  for (const literal of ['a.c', '(a+)+$', '[x-y]', 'C:\\dir/{1}|^']) {
    expect(await ask('search', { call: large.id, text: literal })).toContain('[1 places')
  }
})

test('a match across the chunks of a large result is found', async () => {
  const before = 'x'.repeat(1024 * 1024 - 3)
  stored.set('k', `${before}needle${'x'.repeat(2_000_000)}Needle`)
  const answer = await ask('search', { call: large.id, text: 'needle' })
  expect(answer).toContain('[2 places')
  expect(answer).toContain(`[offset ${before.length}]`)
})

test.each<[string, string, ToolCall['block']['arguments'], string]>([
  ['an unknown call', 'read', { call: 'nonsense' }, 'there is no result of a call "nonsense"'],
  ['no call', 'search', { text: 'x' }, 'call: must be'],
  ['a call that has no answer yet', 'read', { call: open.id }, 'there is no result of a call'],
  ['a result that has expired', 'read', { call: large.id }, 'is not kept any more'],
  ['nothing to search for', 'search', { call: plain.id }, 'text: must be'],
  ['far too much to search for', 'search', { call: plain.id, text: long }, 'text: must be'],
  ['another tool', 'write', { call: plain.id }, 'there is no tool'],
])('%s is answered with a reason', async (_, tool, args, reason) => {
  expect(await ask(tool, args)).toContain(reason)
})

test('the message of a settled call can be read as its result', async () => {
  expect(await ask('read', { call: refused.id })).toContain('not run')
})

test('an unavailable store is named in the answer and retried at the next read', async () => {
  const away = { get: () => Promise.reject(new BusError('unavailable', 'the broker is away')) }
  let current: typeof blobs | typeof away = away
  results = new ResultTexts({ get: (...about) => current.get(...about) }, 1_000)
  expect(await ask('read', { call: large.id })).toContain('right now: the broker is away')
  current = blobs
  stored.set('k', 'back again')
  expect(await ask('read', { call: large.id })).toContain('back again')
})

test('a text is not read from the cache for another digest of its key', async () => {
  stored.set('a', 'a')
  expect(await results.get(blob('a'))).toBe('a')
  const forged = results.get({ ...blob('a'), digest: 'other' })
  await expect(forged).rejects.toMatchObject({ code: 'not-found' })
})

test('the least recently used texts are evicted from the cache', async () => {
  for (const key of ['a', 'b', 'c']) stored.set(key, key)
  const get = (key: string): Promise<string> => results.get(blob(key, 400))
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await get(key)).toBe(key)
  expect(read).toEqual(['a', 'b', 'c', 'b'])
})

test('a text beyond the size of the cache is kept until the next fetch', async () => {
  for (const key of ['a', 'b']) stored.set(key, key)
  for (const key of ['a', 'a', 'b', 'b']) await results.get(blob(key, 5_000))
  expect(read).toEqual(['a', 'b'])
})
