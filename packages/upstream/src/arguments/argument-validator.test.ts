import { expect, test } from 'vitest'

import { ArgumentValidator } from './argument-validator.ts'

const validate = (inputSchema: Record<string, unknown>, args: Record<string, unknown>) => {
  const verdict = new ArgumentValidator('strict').validate({ name: 'tool', inputSchema }, args)
  if (verdict instanceof Promise) throw new Error('a plain schema was left to a thread')
  return verdict
}

const invalidArguments: [
  name: string,
  schema: Record<string, unknown>,
  args: Record<string, unknown>,
  argument: string,
  expected: string,
][] = [
  ['a missing argument', { required: ['city'] }, {}, 'city', 'is required'],
  [
    'an unknown argument',
    { additionalProperties: false },
    { x: 1 },
    'x',
    'is not a known argument',
  ],
  ['a wrong type', { properties: { n: { type: 'integer' } } }, { n: '1' }, 'n', 'must be integer'],
  [
    'a wrong choice',
    { properties: { c: { enum: ['a', 1] } } },
    { c: 2 },
    'c',
    'must be one of "a", 1',
  ],
  ['a wrong constant', { properties: { c: { const: 'a' } } }, { c: 2 }, 'c', 'must be "a"'],
  [
    'a wrong format',
    { properties: { d: { format: 'date' } } },
    { d: 'x' },
    'd',
    'must match format "date"',
  ],
  [
    'a nested argument',
    { properties: { 'a/b': { items: { properties: { c: { minimum: 3 } } } } } },
    { 'a/b': [{ c: 3 }, { c: 2 }] },
    'a/b[1].c',
    'must be >= 3',
  ],
]

test.each(invalidArguments)(
  '%s is reported with the expected value',
  (_name, schema, args, argument, expected) => {
    expect(validate(schema, args)).toEqual({ kind: 'invalid', issues: [{ argument, expected }] })
  },
)

test('every invalid argument is reported at once', () => {
  const verdict = validate({ required: ['a', 'b'], properties: { c: { type: 'null' } } }, { c: 1 })
  expect(verdict).toMatchObject({
    issues: [{ argument: 'a' }, { argument: 'b' }, { argument: 'c' }],
  })
})

test('strict validation neither adds defaults nor converts arguments', () => {
  const args = { n: 1 }
  const schema = { properties: { n: { type: 'number' }, m: { default: 1 } } }
  expect(validate(schema, args)).toMatchObject({ kind: 'valid' })
  expect(args).toEqual({ n: 1 })
})

test.each([
  ['http://json-schema.org/draft-04/schema#', 'items', 'valid'],
  ['http://json-schema.org/draft-06/schema#', 'items', 'valid'],
  ['http://json-schema.org/draft-07/schema#', 'items', 'valid'],
  ['https://json-schema.org/draft/2019-09/schema', 'items', 'invalid'],
  ['https://json-schema.org/draft/2020-12/schema', 'prefixItems', 'invalid'],
  ['https://example.com/my-dialect', 'prefixItems', 'invalid'],
  [{ toString: 7 }, 'prefixItems', 'invalid'],
  [undefined, 'prefixItems', 'invalid'],
])(
  'a tuple under the dialect %s is "%s", and "dependentRequired" is %s',
  (dialect, tuple, verdict) => {
    const schema = {
      ...(dialect === undefined ? {} : { $schema: dialect }),
      properties: { pair: { [tuple]: [{ type: 'string' }] } },
      dependentRequired: { one: ['two'] },
    }
    expect(validate(schema, { pair: ['a'] }).kind).toBe('valid')
    expect(validate(schema, { pair: [1] }).kind).toBe('invalid')
    expect(validate(schema, { one: 1 }).kind).toBe(verdict)
  },
)

test.each([
  ['an unknown type', { type: 'nonsense' }],
  ['a dangling reference', { $ref: '#/$defs/none' }],
  ['a tuple of another dialect', { items: [{ type: 'string' }] }],
  ['an asynchronous verdict', { $async: true, required: ['a'] }],
  ['a nested asynchronous verdict', { properties: { a: { $async: true, type: 'string' } } }],
  [
    'a reference to an asynchronous verdict',
    {
      properties: { a: { $ref: '#/$defs/later' } },
      $defs: { later: { $async: true, items: { $ref: '#/$defs/later' } } },
    },
  ],
])('a schema with %s is unusable with the reason', (_name, schema) => {
  expect(validate(schema, {})).toEqual({
    kind: 'unusable-schema',
    reason: expect.stringMatching(/\w/),
  })
})

test('a schema may have unknown keywords and formats', () => {
  const schema = { 'x-note': 1, properties: { a: { format: 'colour' } }, required: ['a'] }
  expect(validate(schema, { a: 'red' })).toMatchObject({ kind: 'valid' })
  expect(validate(schema, {}).kind).toBe('invalid')
})

test('a schema may refer to itself', () => {
  const schema = { required: ['a'], properties: { inner: { $ref: '#' } } }
  expect(validate(schema, { a: 1, inner: { a: 1 } })).toMatchObject({ kind: 'valid' })
  expect(validate(schema, { a: 1, inner: {} })).toMatchObject({ issues: [{ argument: 'inner.a' }] })
})

test('two tools with the same $id do not affect each other', () => {
  const validator = new ArgumentValidator('strict')
  for (const name of ['a', 'b']) {
    const tool = { name, inputSchema: { $id: 'https://example.com/same', required: [name] } }
    const issues = [{ argument: name, expected: 'is required' }]
    expect(validator.validate(tool, {})).toEqual({ kind: 'invalid', issues })
  }
})

test('a NUL character is refused at any depth', () => {
  const issue = (argument: string) => ({
    kind: 'invalid',
    issues: [{ argument, expected: 'must not contain a NUL character' }],
    isSuspicious: true,
  })
  expect(validate({}, { a: 'x\0' })).toEqual(issue('a'))
  expect(validate({}, { a: [{ b: ['', '\0'] }] })).toEqual(issue('a[0].b[1]'))
  expect(validate({}, { a: { 'b\0': 1 } })).toEqual(issue('a'))
})

test.each([
  ['far too deep', 100_000],
  ['one level too deep', 256],
])('arguments nested %s are refused with the limit', (_name, levels) => {
  let args: Record<string, unknown> = {}
  for (let level = 0; level < levels; level += 1) args = { args }
  const issue = { argument: '', expected: 'are nested more than 256 levels deep' }
  expect(validate({}, args)).toEqual({ kind: 'invalid', issues: [issue] })
  expect(validate({}, args['args'] as Record<string, unknown>).kind).toBe(
    levels === 256 ? 'valid' : 'invalid',
  )
})

test('circular arguments are refused as nested too deep', () => {
  const args: Record<string, unknown> = { a: 1 }
  args['self'] = args
  expect(validate({}, args)).toMatchObject({ kind: 'invalid' })
})
