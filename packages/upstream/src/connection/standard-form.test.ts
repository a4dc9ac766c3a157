import { expect, test } from 'vitest'

import { standardForm } from './standard-form.ts'

const $defs = {
  Colour: { enum: ['red', 'green'], title: 'Colour', type: 'string' },
  Level: { enum: [1, 2], type: 'integer' },
  Loop: { $ref: '#/$defs/Loop' },
}
type Form = { requestedSchema: { properties: { it: object }; required?: string[] } }
const form = (it: object, required = ['it']): ReturnType<typeof standardForm> =>
  standardForm({
    message: '?',
    requestedSchema: { type: 'object', properties: { it }, required, $defs },
  })
const accept = (content: object) => ({ action: 'accept', content })

const titled = (...values: string[]) => values.map((value) => ({ const: value, title: value }))
const colour = { type: 'string', oneOf: titled('red', 'green') }
const level = { type: 'string', oneOf: titled('1', '2') }

test.each<[what: string, given: object, field: object, entered: unknown, sent: unknown]>([
  [
    'anyOf with null',
    { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }], default: null, title: 'Name' },
    { type: 'string', title: 'Name', maxLength: 5 },
    'Ann',
    'Ann',
  ],
  ['a list of types', { type: ['null', 'integer'] }, { type: 'integer' }, 3, 3],
  ['several types', { type: ['integer', 'string'] }, { type: 'integer' }, 3, 3],
  [
    'several schemas',
    { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    { type: 'string' },
    'x',
    'x',
  ],
  [
    'a choice of numbers',
    { type: 'integer', enum: [1, 2], default: 2 },
    { ...level, default: '2' },
    '2',
    2,
  ],
  ['a choice with null', { enum: ['red', 'green', null] }, colour, 'red', 'red'],
  ['a choice without a type', { enum: ['red', 'green'] }, colour, 'red', 'red'],
  [
    'numbers with titles',
    { oneOf: [{ const: 1, title: 'low' }, { const: 2 }] },
    {
      type: 'string',
      oneOf: [
        { const: '1', title: 'low' },
        { const: '2', title: '2' },
      ],
    },
    '1',
    1,
  ],
  [
    'numbers with enumNames',
    { enum: [1, 2], enumNames: ['low'] },
    {
      type: 'string',
      oneOf: [
        { const: '1', title: 'low' },
        { const: '2', title: '2' },
      ],
    },
    '2',
    2,
  ],
  [
    'one value',
    { const: true, title: 'Yes' },
    { type: 'string', title: 'Yes', oneOf: titled('true') },
    'true',
    true,
  ],
  [
    'a reference',
    { $ref: '#/$defs/Colour', title: 'Paint' },
    { ...colour, title: 'Paint' },
    'red',
    'red',
  ],
  [
    'an optional reference',
    { anyOf: [{ $ref: '#/$defs/Level' }, { type: 'null' }] },
    level,
    '1',
    1,
  ],
  [
    'a reference in allOf',
    { allOf: [{ $ref: '#/$defs/Level' }], default: 1 },
    { ...level, default: '1' },
    '1',
    1,
  ],
  ['a reference to nothing', { $ref: '#/$defs/None' }, { type: 'string' }, 'x', 'x'],
  ['a reference that is no URI', { $ref: '#/%' }, { type: 'string' }, 'x', 'x'],
  ['a reference to itself', { $ref: '#/$defs/Loop' }, { type: 'string' }, 'x', 'x'],
  [
    'several references',
    { type: 'array', items: { $ref: '#/$defs/Level' }, minItems: 1, default: [1] },
    { type: 'array', items: { anyOf: titled('1', '2') }, minItems: 1, default: ['1'] },
    ['2', '1'],
    [2, 1],
  ],
  [
    'a list of free texts',
    { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
    { type: 'string', description: 'Several are separated by commas.', default: 'a, b' },
    'x, y,',
    ['x', 'y'],
  ],
  [
    'a list of numbers',
    { type: 'array', items: { type: 'number' }, description: 'Sizes.' },
    { type: 'string', description: 'Sizes. Several are separated by commas.' },
    '1, 2.5',
    [1, 2.5],
  ],
  [
    'a format that MCP does not know',
    { type: 'string', format: 'password' },
    { type: 'string' },
    'x',
    'x',
  ],
  ['a default of another type', { type: 'string', default: 5 }, { type: 'string' }, 'x', 'x'],
  ['no type', { title: 'Name' }, { title: 'Name', type: 'string' }, 'x', 'x'],
])(
  'a field by %s becomes one that MCP allows, and its answer has the type asked for',
  (_, given, field, entered, sent) => {
    const { params, restore } = form(given)
    expect((params as Form).requestedSchema.properties.it).toEqual(field)
    expect(restore(accept({ it: entered }))).toEqual(accept({ it: sent }))
  },
)

test('a field that may be null is not needed; when it is required, null is sent for it', () => {
  const nullable = { anyOf: [{ type: 'string' }, { type: 'null' }] }
  const { params, restore } = form(nullable)
  expect((params as Form).requestedSchema.required).toEqual([])
  expect(restore(accept({}))).toEqual(accept({ it: null }))
  expect(restore({ action: 'decline' })).toEqual({ action: 'decline' })
  expect(form(nullable, []).restore({ action: 'accept' })).toEqual(accept({}))
})

test.each([
  { type: 'string', enum: ['a'], enumNames: ['A'], default: 'a' },
  { type: 'string', oneOf: titled('a'), format: 'email' },
  { type: 'integer', minimum: 1, default: 2, pattern: 'x' },
  { type: 'boolean', default: false },
  { type: 'array', items: { type: 'string', enum: ['a'] } },
  { type: 'array', items: { anyOf: titled('a') }, default: ['a'] },
])('the field %j, which MCP allows, stays as it is', (it) => {
  const params = { message: '?', requestedSchema: { type: 'object', properties: { it } } }
  expect(standardForm(params).params).toBe(params)
})

test.each([
  ['nothing', undefined],
  ['an object without fields', { type: 'object' }],
])('a form of %s has no fields', (_, requestedSchema) => {
  const { params } = standardForm({ message: '?', requestedSchema })
  expect(params).toMatchObject({ requestedSchema: { type: 'object', properties: {} } })
})

test('a form by a reference, or with the hostile number of one, is read', () => {
  const Form = { type: 'object', properties: { it: { type: 'string' } } }
  const requestedSchema = { $ref: '#/$defs/Form', $defs: { Form } }
  expect(standardForm({ requestedSchema }).params).toMatchObject({ requestedSchema: Form })
  const Many = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#/$defs/Many' })) }
  const it = { $ref: '#/$defs/Many' }
  const many = standardForm({ requestedSchema: { properties: { it }, $defs: { Many } } })
  expect((many.params as Form).requestedSchema.properties.it).toEqual({ type: 'string' })
})

const references = (length: number): object[] =>
  Array.from({ length }, () => ({ $ref: '#/$defs/Big' }))
const names = (length: number): string[] => Array.from({ length }, (_, index) => `k${index}`)

test('a schema to which a form refers many times is read once', () => {
  const reads: string[] = []
  const Big = {
    get title() {
      reads.push('title')
      return 'Big'
    },
  }
  const requestedSchema = { properties: { it: { allOf: references(500) } }, $defs: { Big } }
  const { params } = standardForm({ message: '?', requestedSchema })
  expect((params as Form).requestedSchema.properties.it).toEqual({ type: 'string', title: 'Big' })
  expect(reads).toEqual(['title'])
})

test.each([
  ['long choices in many fields', { enum: names(1_000) }, references(100)],
  ['a large preset of numbers', { default: names(10_000).map(() => 1) }, references(1)],
  ['a long preset in many fields', { enum: [1], default: 'x'.repeat(1_000) }, references(500)],
  ['many fields', {}, references(3_000)],
  ['many schemas in a field', {}, [{ allOf: references(3_000) }]],
  [
    'many choices in many fields',
    { oneOf: names(200).map((name) => ({ const: name })) },
    references(200),
  ],
  ['many choices', {}, [{ oneOf: names(3_500).map((name) => ({ const: name, type: 'null' })) }]],
])('a form with %s is left as it is, which the SDK refuses', (_, Big, fields) => {
  const requestedSchema = { properties: Object.fromEntries(fields.entries()), $defs: { Big } }
  const given = { message: '?', requestedSchema }
  expect(standardForm(given).params).toBe(given)
})
