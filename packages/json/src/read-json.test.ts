import { describe, expect, test } from 'vitest'

import { readJson } from './read-json.ts'

describe('JSON of servers', () => {
  test.each<[string, unknown]>([
    ['{"a":"x\ty"}', { a: 'x\ty' }],
    ['{"a":"\u001b[31mred\u001b[0m","b\u0000":1}', { a: '\u001b[31mred\u001b[0m', 'b\u0000': 1 }],
    ['{\t"a"\r:\n"line\nline \\" \u0001"}', { a: 'line\nline " \u0001' }],
    ['{"a":"\\u0001","b":"\\\\"}', { a: '\u0001', b: '\\' }],
    ['{"a":"\\ud83d","b":"\\ud83d\\ude00"}', { a: '\ufffd', b: '😀' }],
  ])(
    '%j is read, with control characters in strings and without halves of characters',
    (text, value) => {
      expect(readJson(text)).toEqual(value)
    },
  )

  test.each([
    ['{"a": NaN}', 'near "{\\"a\\": NaN}"'],
    [`{"a":"${'x'.repeat(50)}\u0001","b":Infinity,"c":"${'y'.repeat(50)}"}`, 'Infinity'],
    [`{"a":1,"b":"${'x'.repeat(50)}`, 'xxxxxxxx'],
    [`{"a":1,${' '.repeat(50)}}`, '}'],
    ["{'a':1}", "{'a'"],
    ['', 'near ""'],
  ])('%j is refused with the place of its fault', (text, where) => {
    expect(() => readJson(text)).toThrow(SyntaxError)
    expect(() => readJson(text)).toThrow(where)
  })

  test('a long text of quotes and backslashes takes no longer than its length', () => {
    expect(() => readJson('"\\'.repeat(2_000_000))).toThrow(SyntaxError)
  })
})
