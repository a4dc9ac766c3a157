import { expect, test } from 'vitest'
import { portableSchema } from './portable-schema.ts'

test('a plain schema is not changed', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 }, days: { type: 'array', items: {} } },
    required: ['city'],
    additionalProperties: false,
  }
  expect(portableSchema(schema)).toEqual(schema)
})

test('$schema, $id and $comment are removed at every depth', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'x',
    type: 'object',
    properties: { a: { $comment: 'c', type: 'string' } },
  }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
})

test('a schema without a type becomes an empty object', () => {
  expect(portableSchema({})).toEqual({ type: 'object', properties: {} })
})

test('references are resolved and merged with the keywords beside them', () => {
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

test('a recursive reference becomes an empty schema', () => {
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

test('references may point into lists, and values are not resolved', () => {
  const a = { anyOf: [{ type: 'string' }, { type: 'number' }], default: { $id: 'x', $ref: '#/no' } }
  const schema = { type: 'object', properties: { a, b: { $ref: '#/properties/a/anyOf/1' } } }
  const properties = { a, b: { type: 'number' } }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties })
})

test('properties of alternatives at the root are merged', () => {
  const part = (key: string) => ({ properties: { [key]: { type: 'string' } }, required: [key] })
  const schema = { $ref: '#/$defs/r', $defs: { r: { allOf: [part('a')], oneOf: [part('b')] } } }
  const properties = { a: { type: 'string' }, b: { type: 'string' } }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties })
})

test('alternatives are removed only at the root, where providers refuse them', () => {
  const either = [{ type: 'string' }, { type: 'number' }]
  const schema = {
    type: 'object',
    properties: { a: { anyOf: either } },
    anyOf: [{ required: ['a'] }],
  }
  expect(portableSchema(schema)).toEqual({ type: 'object', properties: { a: { anyOf: either } } })
})

test('properties may be named like removed keywords', () => {
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
  ['a schema that is not an object', { type: 'string' }, 'its arguments are no object'],
  [
    'a schema with an unknown reference',
    { properties: { a: { $ref: '#/$defs/b' } } },
    'refers to "#/$defs/b", which is not in it',
  ],
  [
    'a schema with an external reference',
    { properties: { a: { $ref: 'https://example.com/b' } } },
    'refers to "https://example.com/b"',
  ],
  [
    'a schema that is too large with its references',
    { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...doubling, d20: {} } },
    'too large',
  ],
  [
    'a schema with a chain of two thousand references',
    { $ref: '#/$defs/d0', $defs: chain },
    'in a row',
  ],
])('%s is refused', (_, schema, message) => {
  expect(() => portableSchema(schema)).toThrow(message)
})
