import { expect, test } from 'vitest'

import { wellFormedJson } from './well-formed-json.ts'

const fix = (value: unknown): unknown => JSON.parse(wellFormedJson(JSON.stringify(value)))

test.each([
  ['before \ud83d after', 'before \ufffd after'],
  ['\ude00 first', '\ufffd first'],
  ['last \ud83d', 'last \ufffd'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
  ['whole 😀 pair', 'whole 😀 pair'],
  ['words: \\ud83d and \\\\ud83d', 'words: \\ud83d and \\\\ud83d'],
  ['\\\ud83d', '\\\ufffd'],
])('the text %j becomes %j', (text, fixed) => {
  expect(fix(text)).toBe(fixed)
  expect(fix({ [text]: [text] })).toEqual({ [fixed]: [fixed] })
})

test('pairs of escapes are kept, and halves beside them replaced', () => {
  const json = '"\\uD83D\\uDE00 \\ud83d\\ude00 \\ud83d\\ud83d\\ude00 \\ud83d\\u0041 \\u00e4\\n"'
  expect(JSON.parse(wellFormedJson(json))).toBe('😀 😀 \ufffd😀 \ufffdA ä\n')
})

test('JSON without such escapes is returned as it is', () => {
  const json = '{"a":"\\u0000 ä"}'
  expect(wellFormedJson(json)).toBe(json)
})
