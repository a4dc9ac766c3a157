import { expect, test } from 'vitest'
import { splitArguments } from './split-arguments.ts'

test.each([
  ['one object', '{"a":1}', ['{"a":1}']],
  ['no arguments', '', ['']],
  ['several objects', '{"a":"}{"}{"a":2} {"a":3}', ['{"a":"}{"}', '{"a":2}', '{"a":3}']],
  ['an empty object before the other', '{}{"a":1}', ['{"a":1}']],
  ['an object that is repeated', '{"a":1}\n{"a":1}', ['{"a":1}']],
  ['broken JSON', '{"a":1', ['{"a":1']],
  ['text after an object', '{"a":1} and so', ['{"a":1} and so']],
  ['a broken second object', '{"a":1}{"a"}', ['{"a":1}{"a"}']],
  ['empty objects only', '{}{}', ['{}{}']],
])('%s: %j', (_, json, expected) => {
  expect(splitArguments(json)).toEqual(expected)
})

test('more objects than a limit stay one text', () => {
  const json = Array.from({ length: 40 }, (_, index) => `{"a":${index}}`).join('')
  expect(splitArguments(json)).toEqual([json])
})
