import { describe, expect, test } from 'vitest'

import { headersFor, parameterHeaders } from './parameter-headers.ts'

const KEY = 'x-mcp-header'
const object = (properties: object): Record<string, unknown> => ({ type: 'object', properties })

describe('header declarations', () => {
  test('header declarations are found at any depth of properties', () => {
    const schema = object({
      region: { type: 'string', [KEY]: 'Region' },
      plain: { type: 'string' },
      deep: object({ er: object({ count: { type: 'integer', [KEY]: 'Count' } }) }),
      flag: { type: 'boolean', [KEY]: 'Flag' },
    })
    expect(parameterHeaders(schema)).toEqual({
      kind: 'valid',
      headers: [
        { path: ['region'], name: 'Region' },
        { path: ['deep', 'er', 'count'], name: 'Count' },
        { path: ['flag'], name: 'Flag' },
      ],
    })
  })

  test('header declarations are optional, and a property may have the keyword as its name', () => {
    expect(parameterHeaders({})).toEqual({ kind: 'valid', headers: [] })
    expect(parameterHeaders(object({ [KEY]: { type: 'string' } }))).toEqual({
      kind: 'valid',
      headers: [],
    })
    expect(parameterHeaders({ properties: [], items: true, $defs: null })).toMatchObject({
      kind: 'valid',
    })
  })

  const marked = { type: 'string', [KEY]: 'X' }
  test.each([
    ['an empty name', object({ a: { type: 'string', [KEY]: '' } })],
    ['a name that is no string', object({ a: { type: 'string', [KEY]: 5 } })],
    ['a name with a space', object({ a: { type: 'string', [KEY]: 'a b' } })],
    ['a name with a line break', object({ a: { type: 'string', [KEY]: 'a\r\nb' } })],
    ['a number', object({ a: { type: 'number', [KEY]: 'X' } })],
    ['an object', object({ a: { type: 'object', [KEY]: 'X' } })],
    ['several types', object({ a: { type: ['string', 'null'], [KEY]: 'X' } })],
    ['no type', object({ a: { [KEY]: 'X' } })],
    ['the same name twice', object({ a: marked, b: { type: 'string', [KEY]: 'x' } })],
    ['the root', { ...marked, properties: {} }],
    ['items', object({ a: { type: 'array', items: marked } })],
    ['a list of items', object({ a: { prefixItems: [{}, marked] } })],
    ['one of several', { anyOf: [object({ a: marked })] }],
    ['a condition', { if: object({ a: marked }) }],
    ['additional properties', { additionalProperties: marked }],
    ['a definition', { $defs: { a: marked } }],
    ['a pattern', { patternProperties: { '^a': marked } }],
    ['properties of items', object({ a: { items: object({ b: marked }) } })],
  ])('a header declaration is invalid on %s', (_title, schema) => {
    expect(parameterHeaders(schema)).toEqual({ kind: 'invalid', reason: expect.any(String) })
  })

  test('an invalid header declaration is reported with its path', () => {
    expect(parameterHeaders(object({ a: object({ b: { type: 'number', [KEY]: 'X' } }) }))).toEqual({
      kind: 'invalid',
      reason: 'a.b: x-mcp-header is on an argument that is no string, integer or boolean',
    })
  })
})

describe('headers of a call', () => {
  const headerOf = (value: unknown): string | undefined =>
    headersFor([{ path: ['a'], name: 'X' }], { a: value })['Mcp-Param-X']

  test.each([
    ['plain text', 'plain text'],
    [7, '7'],
    [-7, '-7'],
    [true, 'true'],
    [false, 'false'],
    ['tab\tinside', 'tab\tinside'],
    ['', '=?base64??='],
    [' edge', '=?base64?IGVkZ2U=?='],
    ['ü', '=?base64?w7w=?='],
    ['a\r\nb', '=?base64?YQ0KYg==?='],
    ['=?base64?x?=', '=?base64?PT9iYXNlNjQ/eD89?='],
  ])('the header for %j is %j', (value, text) => {
    expect(headerOf(value)).toBe(text)
  })

  test.each([[null], [undefined], [1.5], [2 ** 60], [{}], [['a header is left out for %j']]])(
    'leave out %j',
    (value) => {
      expect(headerOf(value)).toBeUndefined()
    },
  )

  test('headers are read from nested arguments', () => {
    const headers = [{ path: ['a', 'b'], name: 'B' }]
    expect(headersFor(headers, { a: { b: 'c' } })).toEqual({ 'Mcp-Param-B': 'c' })
    expect(headersFor(headers, { a: 'b' })).toEqual({})
    expect(headersFor(headers, { a: [{ b: 'c' }] })).toEqual({})
    expect(headersFor([], { a: 1 })).toEqual({})
  })
})
