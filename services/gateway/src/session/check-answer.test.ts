import { expect, test } from 'vitest'
import { checkAnswer } from './check-answer.ts'

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    mail: { type: 'string', format: 'email' },
    page: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'date-time' },
    size: { type: 'string', enum: ['S', 'M'], enumNames: ['small', 'medium'] },
    colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    weight: { type: 'number' },
    isOld: { type: 'boolean' },
    likes: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        anyOf: [
          { const: 'tea', title: 'Tea' },
          { const: 'rum', title: 'Rum' },
          { const: 'ale', title: 'Ale' },
        ],
      },
    },
    any: { type: 'array', items: { type: 'string', enum: ['x'] } },
  },
}

const faultsOf = (content: Record<string, unknown>): string[] =>
  checkAnswer(schema, content).map(({ field, message }) => `${field} ${message}`)

test('an answer that satisfies the schema has no faults', () => {
  expect(
    faultsOf({
      name: 'Ann',
      mail: 'ann@example.com',
      page: 'https://example.com/a',
      day: '2024-02-29',
      time: '2026-01-31T12:00:00+01:00',
      size: 'M',
      colour: 'r',
      age: 7,
      weight: 1.5,
      isOld: false,
      likes: ['tea', 'rum'],
      any: [],
    }),
  ).toEqual([])
})

test.each<[string, unknown, string]>([
  ['name', 5, 'must be a text'],
  ['name', 'A', 'must have at least 2 characters'],
  ['name', 'Annabel', 'must have at most 5 characters'],
  ['mail', 'ann', 'must be an email address'],
  ['mail', `${'a'.repeat(3_000)}@b.c`, 'is too long (format email)'],
  ['page', 'example', 'must be a URL'],
  ['day', '2026-02-30', 'must be a date such as 2026-01-31'],
  ['day', '30.1.2026', 'must be a date such as 2026-01-31'],
  ['time', '2026-01-31', 'must be a time such as 2026-01-31T12:00:00Z'],
  ['time', '2026-01-31T25:00:00Z', 'must be a time such as 2026-01-31T12:00:00Z'],
  ['size', 'L', 'must be one of "S", "M"'],
  ['colour', 'Red', 'must be one of "r"'],
  ['age', '7', 'must be a number'],
  ['age', 7.5, 'must be a whole number'],
  ['age', -1, 'must be at least 0'],
  ['age', 151, 'must be at most 150'],
  ['isOld', 'yes', 'must be true or false'],
  ['likes', 'tea', 'must be a list'],
  ['likes', [], 'must have at least 1 entries'],
  ['likes', ['tea', 'rum', 'ale'], 'must have at most 2 entries'],
  ['likes', ['milk'], 'must be one of "tea", "rum", "ale"'],
  ['any', ['y'], 'must be one of "x"'],
  ['other', 1, 'was not asked for'],
  ['toString', 'x', 'was not asked for'],
])('the field %s with %j has the fault "%s"', (field, value, message) => {
  expect(faultsOf({ [field]: value })).toEqual([`${field} ${message}`])
})

test('a length is counted in characters, not UTF-16 units', () => {
  expect(faultsOf({ name: '👋👋👋👋👋' })).toEqual([])
})

test('all faults are returned at once, missing fields first', () => {
  const strict = { ...schema, required: ['name', 'mail'] }
  expect(checkAnswer(strict, { mail: 'no', age: 'x' }).map(({ field }) => field)).toEqual([
    'name',
    'mail',
    'age',
  ])
})

test('a required field with a default may be missing', () => {
  const strict = { properties: { name: { type: 'string', default: 'Ann' } }, required: ['name'] }
  expect(checkAnswer(strict, {})).toEqual([])
})

test('keywords that MCP does not define are not checked', () => {
  const strange = { properties: { name: { type: 'string', pattern: '^(a+)+$' }, x: true } }
  expect(checkAnswer(strange, { name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', x: 1 })).toEqual(
    [],
  )
})
