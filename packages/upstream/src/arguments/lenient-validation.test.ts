import { expect, test } from 'vitest'

import { argumentForms } from './argument-forms.ts'
import { ArgumentValidator } from './argument-validator.ts'

type Json = Record<string, unknown>

const validate = (properties: Json, args: Json, rest: Json = {}, mode = 'lenient' as const) => {
  const inputSchema = { type: 'object', properties, ...rest }
  const verdict = new ArgumentValidator(mode).validate({ name: 'tool', inputSchema }, args)
  if (verdict instanceof Promise) throw new Error('a plain schema was left to a thread')
  return verdict
}

const closed = { type: 'object', additionalProperties: false }
const text = { type: 'string' }
const number = { type: 'number' }

test.each<[what: string, properties: Json, args: Json, rest?: Json]>([
  ['an uuid without hyphens', { id: { ...text, format: 'uuid' } }, { id: '5f0c954298d84d8f' }],
  ['a nested format', { a: { items: { format: 'date' } } }, { a: ['today'] }],
  ['an unknown property', { a: text }, { a: 'a', b: 1 }, { additionalProperties: false }],
  ['an unevaluated property', { a: text }, { b: 1 }, { unevaluatedProperties: false }],
  ['a nested unknown property', { a: { items: closed } }, { a: [{ b: 1 }] }],
  [
    'an unknown property behind a reference',
    { a: { $ref: '#/$defs/a' } },
    { a: { b: 1 } },
    { $defs: { a: closed } },
  ],
  [
    'alternatives that differ only in forbidden properties',
    {
      a: {
        oneOf: [
          { ...closed, properties: { b: text } },
          { ...closed, properties: { c: text } },
        ],
      },
    },
    { a: { b: 'b', d: 1 } },
  ],
  ['a decimal multiple', { price: { multipleOf: 0.01 } }, { price: 19.99 }],
  ['a large multiple', { price: { multipleOf: 0.01 } }, { price: 1_234_567.89 }],
])('%s is accepted unchanged', (_, properties, args, rest) => {
  const verdict = validate(properties, args, rest)
  expect(verdict).toEqual({ kind: 'valid', args })
  expect(verdict).toHaveProperty(
    'args',
    expect.toSatisfy((coerced: unknown) => coerced === args),
  )
})

test.each<[what: string, properties: Json, args: Json, coerced: Json, rest?: Json]>([
  ['a number', { n: number }, { n: '1.5' }, { n: 1.5 }],
  ['an integer', { n: { type: 'integer', minimum: 1 } }, { n: ' 12 ' }, { n: 12 }],
  ['a boolean string', { yes: { type: 'boolean' } }, { yes: 'True' }, { yes: true }],
  ['a boolean number', { yes: { type: 'boolean' } }, { yes: 0 }, { yes: false }],
  ['a string', { a: text, b: text }, { a: 5, b: true }, { a: '5', b: 'true' }],
  ['one of several types', { n: { type: ['integer', 'null'] } }, { n: '5' }, { n: 5 }],
  [
    'one of several alternatives',
    { n: { anyOf: [number, { type: 'null' }] } },
    { n: '5' },
    { n: 5 },
  ],
  ['an enumerated value', { n: { type: 'integer', enum: [1, 2] } }, { n: '2' }, { n: 2 }],
  [
    'a nested value',
    { 'a/b': { items: { properties: { '~c': { $ref: '#/$defs/n' } } } } },
    { 'a/b': [{}, { '~c': '7', d: 'd' }] },
    { 'a/b': [{}, { '~c': 7, d: 'd' }] },
    { $defs: { n: number } },
  ],
])('%s of another type is coerced to the schema', (_, properties, args, coerced, rest) => {
  const given = structuredClone(args)
  expect(validate(properties, args, rest)).toEqual({ kind: 'valid', args: coerced })
  expect(args).toEqual(given)
  for (const name of Object.keys(args))
    expect(argumentForms(args, [name], { properties, ...rest })).toContainEqual(coerced[name])
})

test.each<[what: string, schema: Json]>([
  ['an alternative', { oneOf: [{ required: ['a'] }, { properties: { n: number } }] }],
  ['a condition', { if: { required: ['m'] }, else: { properties: { n: number } } }],
  ['a dependency', { dependentSchemas: { n: { properties: { n: number } } } }],
  ['a pattern of names', { patternProperties: { '^n$': number } }],
  ['other names', { properties: { a: text }, additionalProperties: number }],
  ['a reference to the whole', { anyOf: [{ $ref: '#' }, { properties: { n: number } }] }],
  [
    'an escaped reference',
    { $ref: '#/$defs/a~1%62', $defs: { 'a/b': { properties: { n: number } } } },
  ],
  ['a reference to elsewhere', { $ref: 'https://schemas.example/n' }],
  ['an anchor', { $ref: '#n', $defs: { n: { $anchor: 'n', properties: { n: number } } } }],
])('the type of an argument is found by %s', (_, schema) => {
  expect(argumentForms({ n: '1e3' }, ['n'], schema)).toContain(1000)
})

test('an argument has no other form without a declared type, or with its own', () => {
  const isPlain = (schema: Json, n: unknown) =>
    argumentForms({ n }, ['n'], { properties: { n: schema } })?.every((form) => form === n)
  expect(isPlain({}, '1')).toBe(true)
  expect(isPlain({ type: ['string', 'number'] }, '1')).toBe(true)
  expect(isPlain({ type: 'integer' }, 1)).toBe(true)
  expect(argumentForms({}, ['n'], {})).toEqual([])
})

test('an argument that may be a boolean or a string has the forms of both', () => {
  const schema = { properties: { n: { type: ['boolean', 'string'] } } }
  expect(argumentForms({ n: 1 }, ['n'], schema)).toEqual([1, true, '1'])
})

const named = (length: number, make: (index: number) => Json): Json =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, make(index)]))

test('a schema is read once for all names without a schema of their own', () => {
  let reads = 0
  const schema = {
    get additionalProperties() {
      reads += 1
      return { type: 'boolean' }
    },
  }
  const args = { a: named(1_000, () => ({})), b: named(1_000, (index) => ({ index })) }
  expect(argumentForms({ args }, ['args'], { properties: { args: schema } })).toHaveLength(3)
  expect(reads).toBe(1)
})

const loop = { additionalProperties: { $ref: '#/$defs/loop' } }
test.each<[what: string, schema: Json, value: unknown]>([
  ['values', { items: { type: 'string' } }, Array.from({ length: 400_000 }, () => 1)],
  ['schemas', { allOf: Array.from({ length: 400_000 }, () => ({})) }, 1],
  ['types', { type: Array.from({ length: 400_000 }, () => 'null') }, 1],
  ['patterns', { patternProperties: named(200_000, () => ({})) }, { b: 1 }],
  [
    'names with schemas of their own',
    { allOf: Array.from({ length: 1_000 }, () => ({ properties: named(100, () => ({})) })) },
    named(1_000, () => ({})),
  ],
  [
    'levels with many schemas',
    { $ref: '#/$defs/loop' },
    Array.from({ length: 250 }).reduce((inner) => ({ inner }), {}),
  ],
])('the forms of an argument with too many %s are not known', (_, a, value) => {
  const manyLoops = { allOf: [...Array.from({ length: 5_000 }, () => ({})), loop] }
  const schema = { properties: { a }, $defs: { loop: manyLoops } }
  expect(argumentForms({ a: value }, ['a'], schema)).toBeUndefined()
})

test('a string that may be a string is not coerced', () => {
  const args = { a: '5' }
  expect(validate({ a: { anyOf: [number, text] } }, args)).toEqual({ kind: 'valid', args })
})

test.each<[what: string, properties: Json, args: Json, expected: string, rest?: Json]>([
  ['a missing argument', { a: text }, {}, 'is required', { required: ['a'] }],
  ['a wrong type', { a: number }, { a: 'many' }, 'must be number'],
  [
    'a number with too many digits',
    { a: { type: 'integer' } },
    { a: '12345678901234567890' },
    'must be integer',
  ],
  ['a fraction for an integer', { a: { type: 'integer' } }, { a: '1.5' }, 'must be integer'],
  ['a number in another notation', { a: number }, { a: '0x10' }, 'must be number'],
  ['null for a string', { a: text }, { a: null }, 'must be string'],
  ['null for a number', { a: number }, { a: null }, 'must be number'],
  ['an empty string for a number', { a: number }, { a: '' }, 'must be number'],
  ['an object for a string', { a: text }, { a: {} }, 'must be string'],
  ['a string for an array', { a: { type: 'array' } }, { a: 'b' }, 'must be array'],
  ['a wrong choice', { a: { enum: ['b'] } }, { a: 'c' }, 'must be one of "b"'],
  ['a number above the maximum', { a: { maximum: 3 } }, { a: 4 }, 'must be <= 3'],
  ['a string above the maximum', { a: { type: 'number', maximum: 3 } }, { a: '4' }, 'must be <= 3'],
  ['no multiple', { a: { multipleOf: 0.01 } }, { a: 0.015 }, 'must be multiple of 0.01'],
])('%s is refused', (_, properties, args, expected, rest) => {
  const issues = [{ argument: 'a', expected }]
  expect(validate(properties, args, rest)).toEqual({ kind: 'invalid', issues })
})

test('a value that "not" excludes is refused', () => {
  const a = { not: { ...closed, properties: { b: text } } }
  expect(validate({ a }, { a: { c: 1 } }).kind).toBe('valid')
  expect(validate({ a }, { a: { b: 'b' } }).kind).toBe('invalid')
})

test.each<[what: string, properties: Json, rest?: Json]>([
  ['a range of draft-04', { a: { minimum: 1, exclusiveMinimum: true } }],
  ['a tuple of draft-07', { a: { items: [text] } }],
  ['a pattern of another language', { a: { pattern: '(?i)a' } }],
  ['a dangling reference', { a: { $ref: '#/definitions/none' } }],
  ['any type', { a: { type: 'any' } }],
  ['a boolean "required"', { a: { type: 'string', required: true } }],
  ['properties of null', { a: { type: 'object', properties: null } }],
])('a schema with %s does not refuse arguments', (_, properties, rest) => {
  const verdict = validate(properties, { a: 'x' }, rest)
  expect(verdict).toEqual({ kind: 'unusable-schema', reason: expect.stringMatching(/\w/) })
})

test('arguments that cannot be cloned are refused', () => {
  const args = { a: '1', b: () => undefined }
  expect(validate({ a: number }, args).kind).toBe('invalid')
})

test('only a NUL character is refused without validation', () => {
  const validator = new ArgumentValidator('off')
  const tool = { name: 'tool', inputSchema: { required: ['a'] }, outputSchema: { required: ['b'] } }
  expect(validator.validate(tool, {})).toEqual({ kind: 'valid', args: {} })
  expect(validator.validateOutput(tool, {})).toEqual({ kind: 'valid' })
  expect(validator.validate(tool, { a: '\0' })).toMatchObject({ kind: 'invalid' })
})

test('a thousand arguments are coerced together', () => {
  const a = { type: 'array', items: number }
  const many = Array.from({ length: 1000 }, (_, index) => index)
  expect(validate({ a }, { a: many.map(String) })).toEqual({ kind: 'valid', args: { a: many } })
})
