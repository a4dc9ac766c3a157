import { expect, test } from 'vitest'
import { portableSchema } from './portable-schema.ts'

test('what is plain stays as it is', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 }, days: { type: 'array', items: {} } },
    required: ['city'],
    additionalProperties: false,
  }
  expect(portableSchema(schema)).toEqual(schema)
})

test('the dialect and other marks are left out, at every depth', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'x',
    type: 'object',
    properties: { a: { $comment: 'c', type: 'string' } },
  }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
})

test('a tool without arguments has an empty object of them', () => {
  expect(portableSchema({})).toEqual({ type: 'object', properties: {} })
})

test('references are resolved, with what stands beside them', () => {
  const schema = {
    type: 'object',
    properties: {
      from: { $ref: '#/$defs/place', description: 'Where it begins.' },
      to: { $ref: '#/definitions/pl~1ace' },
    },
    $defs: {
      place: { type: 'object', properties: { zip: { $ref: '#/$defs/zip' } } },
      zip: { type: 'string' },
    },
    definitions: { 'pl/ace': { type: 'string' } },
  }
  expect(portableSchema(schema)).toEqual({
    type: 'object',
    properties: {
      from: {
        type: 'object',
        properties: { zip: { type: 'string' } },
        description: 'Where it begins.',
      },
      to: { type: 'string' },
    },
  })
})

test('what refers to itself may be anything the second time', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  const schema = {
    type: 'object',
    properties: { first: { $ref: '#/$defs/node' } },
    $defs: { node },
  }
  expect(portableSchema(schema)).toEqual({
    type: 'object',
    properties: { first: { type: 'object', properties: { next: {} } } },
  })
})

test('references may go through lists, and values are no schemas', () => {
  const a = { anyOf: [{ type: 'string' }, { type: 'number' }], default: { $id: 'x', $ref: '#/no' } }
  const schema = { type: 'object', properties: { a, b: { $ref: '#/properties/a/anyOf/1' } } }
  const properties = { a, b: { type: 'number' } }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties })
})

test('properties of alternatives at the root are properties of all', () => {
  const part = (key: string) => ({ properties: { [key]: { type: 'string' } }, required: [key] })
  const schema = { $ref: '#/$defs/r', $defs: { r: { allOf: [part('a')], oneOf: [part('b')] } } }
  const properties = { a: { type: 'string' }, b: { type: 'string' } }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties })
})

test('alternatives are left out at the root only, where providers refuse them', () => {
  const either = [{ type: 'string' }, { type: 'number' }]
  const schema = {
    type: 'object',
    properties: { a: { anyOf: either } },
    anyOf: [{ required: ['a'] }],
  }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties: { a: { anyOf: either } } })
})

test('properties may have the names of what is left out elsewhere', () => {
  const properties = { $schema: { type: 'string' }, definitions: { type: 'string' } }
  expect(portableSchema({ type: 'object', properties })).toEqual({ type: 'object', properties })
})

const chain = Object.fromEntries(
  Array.from({ length: 2000 }, (_, index) => [
    `d${index}`,
    { items: { $ref: `#/$defs/d${index + 1}` } },
  ]),
)
const doubling = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [
    `d${index}`,
    { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
  ]),
)

test.each([
  ['no object', { type: 'string' }, 'its arguments are no object'],
  [
    'one that refers to nothing',
    { properties: { a: { $ref: '#/$defs/b' } } },
    'refers to "#/$defs/b", which is not in it',
  ],
  [
    'one that refers elsewhere',
    { properties: { a: { $ref: 'https://example.com/b' } } },
    'refers to "https://example.com/b"',
  ],
  [
    'one that is too large with its references',
    { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...doubling, d20: {} } },
    'too large',
  ],
  ['one with two thousand references in a row', { $ref: '#/$defs/d0', $defs: chain }, 'in a row'],
])('%s is refused', (_, schema, message) => {
  expect(() => portableSchema(schema)).toThrow(message)
})
