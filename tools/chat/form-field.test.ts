import { describe, expect, test } from 'vitest'
import type { FormField } from './form-field.ts'
import { fieldPrompt, formFields, readField } from './form-field.ts'

const field = (property: object, required: string[] = []): FormField => {
  const [one] = formFields({ properties: { it: property }, required })
  if (one === undefined) throw new Error('no field')
  return one
}

test('a form is asked in the order of its schema, with titles and descriptions', () => {
  const properties = {
    name: { type: 'string', title: 'Name', description: 'as in the passport' },
    age: { type: 'integer' },
  }
  expect(formFields({ properties, required: ['name'] })).toEqual([
    expect.objectContaining({ name: 'name', label: 'Name: as in the passport', isRequired: true }),
    expect.objectContaining({ name: 'age', label: 'age', type: 'integer', isRequired: false }),
  ])
  expect(formFields()).toEqual([])
})

test.each<[object, string[], string]>([
  [{ type: 'string' }, ['it'], '  it: '],
  [{ type: 'string' }, [], '  it (optional): '],
  [{ type: 'boolean', default: false }, [], '  it (yes or no; Enter: false): '],
  [{ type: 'string', enum: ['s', 'm'], enumNames: ['small'] }, ['it'], '  it (s = small | m): '],
  [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, ['it'], '  it (r = Red): '],
  [
    { type: 'array', items: { anyOf: [{ const: 'x', title: 'x' }] } },
    ['it'],
    '  it (x; several, by commas): ',
  ],
])('%j %j is asked as "%s"', (property, required, prompt) => {
  expect(fieldPrompt(field(property, required))).toBe(prompt)
})

describe('a line', () => {
  const colour = { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }
  test.each<[object, string, unknown]>([
    [{ type: 'string' }, ' Ann ', 'Ann'],
    [{ type: 'string', default: 'Bob' }, '', 'Bob'],
    [{ type: 'string' }, '', undefined],
    [{ type: 'integer' }, '7', 7],
    [{ type: 'number' }, '-1.5', -1.5],
    [{ type: 'boolean' }, 'Y', true],
    [{ type: 'boolean' }, 'no', false],
    [colour, 'Red', 'r'],
    [colour, 'r', 'r'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a, b', ['a', 'b']],
    [{ type: 'array' }, 'x', ['x']],
  ])('for %j reads %j as %j', (property, line, value) => {
    expect(readField(field(property), line)).toEqual(value === undefined ? {} : { value })
  })

  test.each<[object, string, string]>([
    [{ type: 'string' }, '', 'needed'],
    [{ type: 'integer' }, '7.5', 'whole number'],
    [{ type: 'number' }, 'many', 'a number'],
    [{ type: 'boolean' }, 'perhaps', 'yes or no'],
    [colour, 'green', 'Choose'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a, c', 'Choose'],
    [{ type: 'string', minLength: 3 }, 'ab', 'must have at least 3 characters'],
    [{ type: 'string', format: 'email' }, 'ann', 'must be an email address'],
    [{ type: 'integer', minimum: 1, maximum: 9 }, '10', 'must be at most 9'],
    [
      { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 },
      'a',
      'must have at least 2 entries',
    ],
  ])('for %j that is %j does not fit', (property, line, reason) => {
    expect(readField(field(property, ['it']), line)).toEqual({
      fault: expect.stringContaining(reason),
    })
  })
})
