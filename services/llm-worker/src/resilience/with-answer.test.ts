import { expect, test } from 'vitest'
import type { StreamPart } from '../model.ts'
import { end, FakeModel, read, textDelta } from './__fixtures__/fake-model.ts'
import { withAnswer } from './with-answer.ts'

const used = (inputTokens: number, outputTokens: number): StreamPart => ({
  type: 'end',
  usage: { inputTokens, outputTokens },
})
const thought: StreamPart = { type: 'reasoning-delta', text: 'hm' }
const again: StreamPart = { type: 'notice', text: 'm ended without an answer, and is asked again' }
const nothing: StreamPart = { type: 'notice', text: 'm gave no answer, also when asked again' }

test.each<[string, StreamPart[]]>([
  ['nothing', []],
  ['reasoning', [thought]],
  ['space', [textDelta(' \n')]],
  ['text that was reasoning', [textDelta('hm'), { type: 'relabel', kind: 'reasoning' }]],
])(
  'a model that ends with %s is asked once more, and both requests are counted',
  async (_, parts) => {
    const model = new FakeModel('m', [...parts, used(5, 1)], [textDelta('yes'), used(6, 2)])
    expect(await read(withAnswer(model))).toEqual({
      parts: [...parts, again, textDelta('yes'), used(11, 3)],
      error: undefined,
    })
    expect(model.requests).toBe(2)
  },
)

test('the user is told when there is no answer again', async () => {
  const model = new FakeModel('m', [thought, end])
  const { parts } = await read(withAnswer(model))
  expect(parts).toEqual([thought, again, thought, nothing, end])
  expect(model.requests).toBe(2)
})

test.each<[string, StreamPart[]]>([
  ['text', [textDelta('yes'), end]],
  ['reasoning that was text', [thought, { type: 'relabel', kind: 'text' }, end]],
  ['a call', [{ type: 'tool-call', name: 't', arguments: '{}' }, end]],
  ['a limit of its length', [thought, { type: 'end', isCut: true }]],
])('a model that ends with %s is asked once', async (_, parts) => {
  const model = new FakeModel('m', parts)
  expect(await read(withAnswer(model))).toEqual({ parts, error: undefined })
  expect(model.requests).toBe(1)
})
