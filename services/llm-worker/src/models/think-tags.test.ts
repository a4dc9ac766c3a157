import { expect, test } from 'vitest'
import { end, FakeModel, read, textDelta } from '../resilience/__fixtures__/fake-model.ts'
import type { StreamPart } from '../model.ts'
import { withThinkTags } from './think-tags.ts'

/** The reasoning and the text of an answer that arrives in these pieces. */
async function split(...steps: (string | StreamPart)[]) {
  const parts = steps.map((step) => (typeof step === 'string' ? textDelta(step) : step))
  const { parts: found } = await read(withThinkTags(new FakeModel('m', [...parts, end])))
  const join = (type: string) =>
    found.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
  return { reasoning: join('reasoning-delta'), text: join('text-delta'), last: found.at(-1)?.type }
}

test.each([
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
])('text between %s and %s is reasoning, however it is cut', async (open, close) => {
  const whole = `\n${open}\nI <b>plan</b> it.${close}\n\nFour, <think>really</think>.`
  const expected = {
    reasoning: 'I <b>plan</b> it.',
    text: 'Four, <think>really</think>.',
    last: 'end',
  }
  for (let size = 1; size <= whole.length; size++) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.slice(index * size, (index + 1) * size),
    )
    expect(await split(...pieces), `pieces of ${size}`).toEqual(expected)
  }
})

test.each([
  ['a tag in mid-text', ['Use <think>x</think> here']],
  ['another tag', ['<thin', 'g>x</thing>']],
  ['the beginning of a tag only', ['<thi']],
  ['space only', [' \n']],
])('%s stays text', async (_, pieces) => {
  expect(await split(...pieces)).toEqual({ reasoning: '', text: pieces.join(''), last: 'end' })
})

test('reasoning without an end is reasoning', async () => {
  expect(await split('<think>and so </th')).toEqual({
    reasoning: 'and so </th',
    text: '',
    last: 'end',
  })
})

test('each text of an answer may begin with reasoning', async () => {
  const call: StreamPart = { type: 'tool-call', name: 't', arguments: '{}' }
  expect(await split('<think>a</think>x', call, '<think>b</think>y')).toEqual({
    reasoning: 'ab',
    text: 'xy',
    last: 'end',
  })
})
