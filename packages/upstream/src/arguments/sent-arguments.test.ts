import { expect, test } from 'vitest'
import { sentArguments } from './sent-arguments.ts'

const tool = {
  name: 'pay',
  inputSchema: { type: 'object' as const, properties: { amount: { type: 'number' } } },
}

test.each([
  [undefined, { amount: '7' }, { amount: 7 }],
  ['lenient', { amount: '7', more: '8' }, { amount: 7, more: '8' }],
  ['lenient', { amount: 'all' }, { amount: 'all' }],
  ['strict', { amount: '7' }, { amount: '7' }],
  ['off', { amount: '7' }, { amount: '7' }],
] as const)('with the validation %s, %j is sent as %j', async (mode, given, sent) => {
  expect(await sentArguments(tool, given, mode)).toEqual(sent)
})
