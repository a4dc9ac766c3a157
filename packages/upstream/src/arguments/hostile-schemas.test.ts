import { describe, expect, test } from 'vitest'

import { ArgumentValidator } from './argument-validator.ts'
import { SchemaThreads } from './schema-threads.ts'

type Json = Record<string, unknown>

const range = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => item(index))
const withProperties = (length: number, value: (index: number) => unknown): Json =>
  Object.fromEntries(range(length, (index) => [`p${index}`, value(index)]))
const tree = (depth: number): Json => (depth === 0 ? {} : { a: tree(depth - 1) })

const doubled = {
  properties: { a: { $ref: '#/$defs/p0' } },
  $defs: withProperties(40, (index) => {
    const next = index === 39 ? { type: 'string' } : { $ref: `#/$defs/p${index + 1}` }
    return { allOf: [next, next] }
  }),
}
const branching = { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } }
const arrayOf = (items: Json): Json => ({ properties: { a: { ...items, type: 'array' } } })
const withPattern = (pattern: string): Json => ({ properties: { a: { pattern } } })
const letters = 'a'.repeat(40)

const shortThreads = () => new SchemaThreads({ checkLimitMs: 200, compileLimitMs: 10_000 })
const validator = (threads = shortThreads()) => new ArgumentValidator('lenient', { threads })

test.for<[name: string, schema: Json, args: Json]>([
  ['a pattern that backtracks', withPattern('^(a+)+$'), { a: `${letters}!` }],
  ['alternatives that overlap', withPattern('^(a|aa)+$'), { a: `${letters}!` }],
  ['forty optional letters', withPattern('a?'.repeat(40) + letters), { a: letters }],
  ['a pattern for names', { patternProperties: { '^(a+)+$': {} } }, { [`${letters}!`]: 1 }],
  ['forty doubled references', doubled, { a: 'x' }],
  ['references that branch at each level', branching, tree(60)],
  [
    '15,000 objects that must differ',
    arrayOf({ uniqueItems: true }),
    { a: range(15_000, (id) => ({ id, name: 'x' })) },
  ],
])(
  'a check of %s is aborted at the limit without blocking the event loop',
  async ([, inputSchema, args]) => {
    const checked = validator().validate({ name: 'tool', inputSchema }, args)
    const timer = new Promise((resolve) => setTimeout(resolve, 1, 'others'))
    expect(await Promise.race([checked, timer])).toBe('others')
    expect(await checked).toMatchObject({ kind: 'unchecked', reason: 'it takes more than 200 ms' })
  },
)

test.for<[name: string, schema: Json, args: Json, kind: string]>([
  ['a long enum', { properties: { a: { enum: range(20_000, String) } } }, { a: '19999' }, 'valid'],
  [
    'a value outside of a long enum',
    { properties: { a: { enum: range(20_000, String) } } },
    { a: 'x' },
    'invalid',
  ],
  [
    'a harmless pattern with groups',
    withPattern(String.raw`^(\d+\.)+\d+$`),
    { a: '1.2.3' },
    'valid',
  ],
  [
    'no match of a harmless pattern',
    withPattern(String.raw`^(\d+\.)+\d+$`),
    { a: '1.2.' },
    'invalid',
  ],
  [
    'a dynamic reference',
    { $dynamicAnchor: 'node', required: ['id'], properties: { a: { $dynamicRef: '#node' } } },
    { id: 1, a: {} },
    'invalid',
  ],
  ['a schema that refers only to itself', { allOf: [{ $ref: '#' }] }, {}, 'unusable-schema'],
  [
    'a number as a string',
    { $dynamicAnchor: 'it', properties: { n: { type: 'number' }, a: { $dynamicRef: '#it' } } },
    { a: { n: '1' } },
    'valid',
  ],
])('%s is checked in a thread', async ([, inputSchema, args, kind]) => {
  const checked = new ArgumentValidator('lenient').validate({ name: 'tool', inputSchema }, args)
  expect(checked).toBeInstanceOf(Promise)
  expect(await checked).toMatchObject({ kind })
})

test('a pattern that is no regular expression makes a schema unusable', () => {
  const tool = { name: 'tool', inputSchema: withPattern('(?i)a') }
  expect(validator().validate(tool, { a: 'a' })).toMatchObject({ kind: 'unusable-schema' })
})

test('a schema that exceeded the limit for compilation is not compiled again', async () => {
  const subject = validator(new SchemaThreads({ compileLimitMs: 20 }))
  const inputSchema = { properties: withProperties(12_000, () => ({ type: 'string' })) }
  const checked = subject.validate({ name: 'tool', inputSchema }, {})
  const timer = new Promise((resolve) => setTimeout(resolve, 1, 'others'))
  expect(await Promise.race([checked, timer])).toBe('others')
  expect(await checked).toMatchObject({ reason: 'it takes more than 20 ms' })
  expect(subject.validate({ name: 'tool', inputSchema }, {})).toMatchObject({
    kind: 'unusable-schema',
  })
})

test('a thread is replaced after a check that exceeded the limit', async () => {
  const subject = validator()
  const tool = { name: 'tool', inputSchema: withPattern('^(a+)+$') }
  expect(await subject.validate(tool, { a: `${letters}!` })).toMatchObject({ kind: 'unchecked' })
  expect(await subject.validate(tool, { a: letters })).toMatchObject({ kind: 'valid' })
  expect(await subject.validate(tool, { a: 'b' })).toMatchObject({ kind: 'invalid' })
})

test('after a check that exceeded the limit other servers come first', async () => {
  const threads = shortThreads()
  const hostile = validator(threads)
  const tool = { name: 'tool', inputSchema: withPattern('^(a+)+$') }
  await hostile.validate(tool, { a: `${letters}!` })
  const named = async (name: string, subject: ArgumentValidator): Promise<string> => {
    await subject.validate(tool, { a: letters })
    return name
  }
  const next = named('hostile', hostile)
  expect(await Promise.race([next, named('other', validator(threads))])).toBe('other')
  expect(await next).toBe('hostile')
})

test('a check that exceeds the memory limit of its thread is aborted', async () => {
  const never = range(100, () => ({ type: 'null' }))
  const inputSchema = arrayOf({ items: { allOf: never } })
  const subject = validator(new SchemaThreads({ checkLimitMs: 60_000, memoryLimitMb: 24 }))
  const checked = subject.validate({ name: 'tool', inputSchema }, { a: range(20_000, () => 1) })
  expect(await checked).toMatchObject({
    kind: 'unchecked',
    reason: expect.stringContaining('memory limit'),
  })
})

test('slow checks of one server leave a thread to other servers, and their queue is bounded', async () => {
  const threads = new SchemaThreads({ checkLimitMs: 60_000 })
  const hostile = new ArgumentValidator('lenient', { threads })
  const good = new ArgumentValidator('lenient', { threads })
  const tool = { name: 'tool', inputSchema: withPattern('^(a+)+$') }
  const slow = range(40, () => hostile.validate(tool, { a: `${'a'.repeat(27)}!` }))
  expect(await good.validate(tool, { a: letters })).toMatchObject({ kind: 'valid' })
  expect(await slow.at(-1)).toMatchObject({
    kind: 'unchecked',
    reason: expect.stringContaining('32 checks of this server wait already'),
  })
})

test('checks that have waited too long are refused', async () => {
  const threads = new SchemaThreads({ checkLimitMs: 300, compileLimitMs: 10_000, waitLimitMs: 200 })
  const hostile = new ArgumentValidator('lenient', { threads })
  const tool = { name: 'tool', inputSchema: withPattern('^(a+)+$') }
  const slow = range(3, () => hostile.validate(tool, { a: `${'a'.repeat(40)}!` }))
  const checked: unknown[] = []
  for (const each of slow) checked.push(await each)
  expect(checked).toMatchObject([
    { kind: 'unchecked', reason: 'it takes more than 300 ms' },
    { kind: 'unchecked', reason: expect.stringContaining('earlier checks') },
    { kind: 'unchecked', reason: expect.stringContaining('earlier checks') },
  ])
})

describe('plain schemas stay in the event loop', () => {
  const text = { type: 'string', description: 'A text' }
  test.for<[name: string, schema: Json, args: Json]>([
    [
      'sixty properties',
      { properties: withProperties(60, () => text) },
      withProperties(60, () => 'x'),
    ],
    ['a megabyte of text', { properties: { path: text, text } }, { text: 'x'.repeat(1_000_000) }],
    ['an enum of countries', { properties: { a: { enum: range(250, String) } } }, { a: '7' }],
    [
      'a hundred unique tags',
      arrayOf({ uniqueItems: true, items: text }),
      { a: range(500, String) },
    ],
    ['a date', withPattern(String.raw`^\d{4}-\d{2}-\d{2}$`), { a: '2026-11-23' }],
    [
      'an address',
      withPattern(String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$`),
      { a: `${letters}@example.com` },
    ],
    ['a slug', withPattern('^[a-z0-9-]+$'), { a: 'a-b'.repeat(30) }],
    ['references', { properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: text } }, { a: 'x' }],
    ['a tree', { properties: { a: { $ref: '#' }, b: { items: { $ref: '#' } } } }, tree(6)],
    [
      'a thousand rows',
      arrayOf({ items: { properties: withProperties(10, () => text) } }),
      { a: range(1000, () => withProperties(10, String)) },
    ],
  ])('a schema with %s is checked in the event loop', ([, inputSchema, args]) => {
    expect(validator().validate({ name: 'tool', inputSchema }, args)).toMatchObject({
      kind: 'valid',
    })
  })
})

test.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
  'an argument named %s is one like any other',
  async (name) => {
    const own = (value: unknown): Json => JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as Json
    const properties = own({ type: 'string' })
    const check = (args: Json, more: Json = {}) =>
      validator().validate({ name: 'tool', inputSchema: { properties, ...more } }, args)
    expect(await check({})).toMatchObject({ kind: 'valid' })
    expect(await check(own('x'))).toMatchObject({ kind: 'valid' })
    expect(await check({}, { required: [name] })).toMatchObject({ kind: 'invalid' })
    expect(await check(own('x'), { required: [name] })).toMatchObject({ kind: 'valid' })
  },
)

describe('the cost of patterns', () => {
  const threads = new SchemaThreads({ checkLimitMs: 500 })
  const words = (count: number): string => range(count, (index) => `word${index}`).join('|')

  test.for<[name: string, schema: Json]>([
    ['many alternatives', withPattern(words(40_000))],
    ['a name of many alternatives', { patternProperties: { [words(40_000)]: {} } }],
    ['many classes of Unicode', withPattern(String.raw`\p{L}`.repeat(1_000))],
    ['many patterns', { allOf: range(900, () => withPattern(words(20))) }],
  ])('a schema with %s is not compiled', ([, inputSchema]) => {
    const verdict = validator().validate({ name: 'tool', inputSchema }, { a: 'word7' })
    const reason = 'its patterns have more than 65536 characters'
    expect(verdict).toEqual({ kind: 'unusable-schema', reason })
  })

  test.for<[name: string, schema: Json, args: Json]>([
    ['a long pattern', withPattern('word'.repeat(600)), { a: 'word7' }],
    ['some classes of Unicode', withPattern(String.raw`^\p{L}`.repeat(30)), { a: 'word7' }],
    ['repetitions of a fixed number', withPattern('.{99}'.repeat(99)), { a: 'x'.repeat(5_000) }],
    [
      'a format inside "not"',
      arrayOf({ items: { not: { format: 'email' } } }),
      { a: range(200, () => 'x'.repeat(2_000)) },
    ],
    [
      'a format inside "if"',
      arrayOf({ items: { if: { format: 'uri' }, else: { minLength: 1 } } }),
      { a: range(200, () => 'x'.repeat(2_000)) },
    ],
    [
      'many parts, and values of many levels',
      { properties: { a: { $ref: '#' }, ...withProperties(150, () => ({ type: 'string' })) } },
      tree(100),
    ],
  ])('a schema with %s is checked in a thread', async ([, inputSchema, args]) => {
    const checked = validator(threads).validate({ name: 'tool', inputSchema }, args)
    expect(checked).toBeInstanceOf(Promise)
    await checked
  })

  test('the steps of one check do not count for the next', async () => {
    const subject = validator(threads)
    const name = 'tool'
    await subject.validate(
      { name, inputSchema: withPattern(String.raw`^(\d+\.)+\d+$`) },
      { a: '1.' },
    )
    for (const schema of [
      { $id: 'https://example.com/schema', properties: { a: { pattern: '^[a-z]+$' } } },
      { patternProperties: { '^[a-z]$': { type: 'string' } }, additionalProperties: false },
      { $ref: '#/$defs/a', $defs: { a: { properties: { a: { pattern: 'x+' } } } } },
    ]) {
      const verdict = await subject.validate({ name, inputSchema: schema }, { a: 'x' })
      expect(verdict).toMatchObject({ kind: 'valid' })
    }
  })
})
