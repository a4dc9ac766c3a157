import { expect, test } from 'vitest'
import { end, FakeModel, read, textDelta } from '../resilience/__fixtures__/fake-model.ts'
import type { Model, StreamPart } from '../model.ts'
import { withThinkTags } from './think-tags.ts'

/** The reasoning and the text of an answer that arrives in these pieces. */
async function split(...steps: (string | StreamPart)[]) {
  const parts = steps.map((step) => (typeof step === 'string' ? textDelta(step) : step))
  return splitBy(withThinkTags(new FakeModel('m', [...parts, end])))
}

async function splitBy(model: Model) {
  const { parts: found } = await read(model)
  const runs: { kind: string; text: string }[] = []
  for (const part of found) {
    const kind = part.type.replace('-delta', '')
    if (part.type === 'relabel') Object.assign(runs.at(-1) ?? {}, { kind: part.kind })
    else if ('text' in part && runs.at(-1)?.kind !== kind) runs.push({ kind, text: part.text })
    else if ('text' in part) runs.push({ kind, text: `${runs.pop()?.text}${part.text}` })
  }
  const join = (kind: string) => runs.map((run) => (run.kind === kind ? run.text : '')).join('')
  return { reasoning: join('reasoning'), text: join('text'), last: found.at(-1)?.type }
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

test('text before an end without a begin is reasoning, however it is cut', async () => {
  const whole = 'I plan it.\n</think>\n\nFour, </think> really.'
  for (let size = 1; size <= whole.length; size++) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.slice(index * size, (index + 1) * size),
    )
    expect(await split(...pieces), `pieces of ${size}`).toEqual({
      reasoning: 'I plan it.\n',
      text: 'Four, </think> really.',
      last: 'end',
    })
  }
})

test('an end of reasoning with nothing before it is no text', async () => {
  const expected = { reasoning: '', text: 'Four', last: 'end' }
  expect(await split('\n</th', 'ink>\n\nFour')).toEqual(expected)
})

test('a model that marked only the end of its reasoning is expected to do so again', async () => {
  const late = ['plan', '</think>four'].map(textDelta)
  const plain = [textDelta('five')]
  const model = withThinkTags(new FakeModel('m', [...late, end], [...late, end], [...plain, end]))
  expect(await splitBy(model)).toMatchObject({ reasoning: 'plan', text: 'four' })
  const { parts } = await read(model)
  expect(parts).toEqual([
    { type: 'reasoning-delta', text: 'plan' },
    { type: 'text-delta', text: 'four' },
    end,
  ])
  expect(await splitBy(model)).toMatchObject({ reasoning: '', text: 'five' })
  expect((await read(model)).parts).toEqual([...plain, end])
})

test('reasoning that is cut off before its end stays reasoning where the model has none without it', async () => {
  const late = ['plan', '</think>four'].map(textDelta)
  const cut = [textDelta('plan'), { ...end, isCut: true }]
  const model = withThinkTags(new FakeModel('m', [...late, end], cut))
  await read(model)
  expect(await splitBy(model)).toMatchObject({ reasoning: 'plan', text: '' })
})

test.each([
  ['a quoted end of reasoning', ['The tag `', '</', 'think>` ends it']],
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
