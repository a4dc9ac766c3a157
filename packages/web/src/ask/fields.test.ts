import { expect, test } from 'vitest'
import { readFields, readValues } from './fields.ts'

const optional = {
  properties: {
    text: { type: 'string' },
    number: { type: 'integer' },
    flag: { type: 'boolean' },
    many: { type: 'array', items: { enum: ['a', 'b'] } },
    one: { type: 'string', enum: ['a', 'b'] },
  },
}
const fields = readFields(optional)

test('fields that were not touched are not sent', () => {
  expect(readValues(fields, new Map())).toEqual({})
})

test('fields that were touched are sent, also when they say no', () => {
  const values = new Map<string, string | boolean | string[]>([
    ['text', ''],
    ['number', '0'],
    ['flag', false],
    ['many', []],
    ['one', 'b'],
  ])
  expect(readValues(fields, values)).toEqual({ number: 0, flag: false, many: [], one: 'b' })
})

test('what the form shows as its default is sent; so is a field that needs a value', () => {
  const properties = {
    text: { type: 'string', default: 'x' },
    flag: { type: 'boolean' },
    many: { type: 'array', default: ['a'], items: { enum: ['a', 'b'] } },
    off: { type: 'boolean', default: false },
  }
  const given = readValues(readFields({ properties, required: ['flag'] }), new Map())
  expect(given).toEqual({ text: 'x', flag: false, many: ['a'], off: false })
})
