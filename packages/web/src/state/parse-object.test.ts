import { expect, test } from 'vitest'
import { parseObject } from './parse-object.ts'

test('the object of a JSON text is returned', () => {
  expect(parseObject(' {"path": "/tmp"} ', 'Arguments')).toEqual({ path: '/tmp' })
})

test.each(['', '{', '{path: 1}', '[]', 'null', '"text"', '3'])(
  'for %j, the error names the field and the remedy',
  (text) => {
    const reason = /^Arguments: this is .*Write an object, as \{"path": "\/tmp"\}\.$/s
    expect(() => parseObject(text, 'Arguments')).toThrow(reason)
    expect(() => parseObject(text, 'Arguments')).not.toThrow('SyntaxError')
  },
)
