import type { OfferedTool } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { fillArguments } from './fill-arguments.ts'

const string = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const boolean = { type: 'boolean' }

type JsonSchema = OfferedTool['inputSchema']

type Properties = Record<string, JsonSchema>

/** Fills the arguments; the sentence's first word is the tool's name. */
function fill(text: string, properties: Properties, required = Object.keys(properties)) {
  const schema = { type: 'object', properties, required }
  return fillSchema(text, schema)
}

function fillSchema(text: string, schema: JsonSchema) {
  const filled = fillArguments(text, schema, 't')
  return filled.missing.length > 0 ? { missing: filled.missing } : filled.arguments
}

test.each([
  ['t frobnak=Oslo'],
  ['t frobnak = Oslo'],
  ['t frobnak: Oslo'],
  ['t frobnak Oslo'],
  ['t with the frobnak Oslo'],
  ['t "frobnak": "Oslo"'],
  ["t frobnak 'Oslo'"],
  ['t Frobnak is Oslo'],
  ['t {"frobnak": "Oslo"}'],
  ['t(frobnak="Oslo")'],
  ['t with frobnak set to Oslo'],
])('"%s" gives the argument by name', (text) => {
  expect(fill(text, { frobnak: string })).toEqual({ frobnak: 'Oslo' })
})

test.each([['userName'], ['user_name'], ['user-name'], ['user name']])(
  'an argument may be spelt %s',
  (spelling) => {
    expect(fill(`t ${spelling} Ann other x`, { userName: string, other: string })).toEqual({
      userName: 'Ann',
      other: 'x',
    })
  },
)

test('a value ends where the next argument is named', () => {
  expect(
    fill('t title: Fix the bug, body: It crashes and burns', { title: string, body: string }),
  ).toEqual({ title: 'Fix the bug', body: 'It crashes and burns' })
  expect(fill('t city=New York unit=k', { city: string, unit: string })).toEqual({
    city: 'New York',
    unit: 'k',
  })
})

test('numbers go to the numeric arguments in their order, and only once', () => {
  expect(fill('t 2 and 3', { a: number, b: number })).toEqual({ a: 2, b: 3 })
  expect(fill('t 2', { a: number, b: number })).toEqual({ missing: ['b'] })
  expect(fill('t 2.5', { a: integer })).toEqual({ missing: ['a'] })
})

test('a quoted word is used once', () => {
  expect(fill('t "x"', { one: string, two: string })).toEqual({ missing: ['two'] })
})

test('a member of an enumeration is found by its mention', () => {
  const unit = { enum: ['celsius', 'degreesFahrenheit'] }
  expect(fill('t Oslo in degrees fahrenheit', { city: string, unit })).toEqual({
    city: 'Oslo',
    unit: 'degreesFahrenheit',
  })
  expect(fill('t Oslo in kelvin', { unit })).toEqual({ missing: ['unit'] })
  expect(fill('t unit kelvin', { unit }, [])).toEqual({})
})

test('a switch is set by yes and no, or by naming it', () => {
  expect(fill('t yes', { force: boolean })).toEqual({ force: true })
  expect(fill('t force=false', { force: boolean })).toEqual({ force: false })
  expect(fill('t recursive', { recursive: boolean }, [])).toEqual({ recursive: true })
  expect(fill('t include image', { includeImage: boolean }, [])).toEqual({ includeImage: true })
  expect(fill('t without include image', { includeImage: boolean }, [])).toEqual({
    includeImage: false,
  })
  expect(fill('t something', { force: boolean }, [])).toEqual({})
})

test('lists become arrays', () => {
  const words = { type: 'array', items: string }
  const numbers = { type: 'array', items: number }
  expect(fill('t words a, b and c', { words })).toEqual({ words: ['a', 'b', 'c'] })
  expect(fill('t "a" "b, c"', { words })).toEqual({ words: ['a', 'b, c'] })
  expect(fill('t the words pear, fig', { words })).toEqual({ words: ['pear', 'fig'] })
  expect(fill('t 1, 2 and 3.5', { numbers })).toEqual({ numbers: [1, 2, 3.5] })
  expect(fill('t [3, 4]', { numbers })).toEqual({ numbers: [3, 4] })
  const days = { type: 'array', items: { enum: ['mon', 'tue', 'wed'] } }
  expect(fill('t on wed and mon', { days })).toEqual({ days: ['wed', 'mon'] })
})

test('nested objects are given as JSON', () => {
  const address = { type: 'object', properties: { city: string, zip: integer }, required: ['city'] }
  expect(
    fill('t {"name":"Bob","address":{"city":"Oslo","zip":150}}', { name: string, address }),
  ).toEqual({ name: 'Bob', address: { city: 'Oslo', zip: 150 } })
  expect(fill('t name Bob address {"city":"Oslo"}', { name: string, address })).toEqual({
    name: 'Bob',
    address: { city: 'Oslo' },
  })
  expect(fill('t name Bob', { name: string, address }, ['name'])).toEqual({ name: 'Bob' })
})

test('local references and nullable types are understood', () => {
  expect(
    fillSchema('t Oslo 3', {
      type: 'object',
      properties: {
        city: { $ref: '#/$defs/City' },
        days: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
      },
      required: ['city', 'days'],
      $defs: { City: string },
    }),
  ).toEqual({ city: 'Oslo', days: 3 })
  const loop = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  expect(() => fillSchema('t x', loop)).not.toThrow()
})

test('addresses, dates and paths go where they belong', () => {
  expect(
    fill('t bob@example.com about /tmp/x.txt from https://a.example/b?c=1.', {
      file: string,
      url: { type: 'string', format: 'uri' },
      to: { type: 'string', format: 'email' },
    }),
  ).toEqual({ file: '/tmp/x.txt', url: 'https://a.example/b?c=1', to: 'bob@example.com' })
  expect(
    fill('t from Oslo to Rome on 2026-05-01', {
      to: string,
      from: string,
      date: { type: 'string', format: 'date' },
    }),
  ).toEqual({ from: 'Oslo', to: 'Rome', date: '2026-05-01' })
})

test('optional arguments are filled only when they are clearly given', () => {
  const optional = { limit: integer, note: string, path: string }
  expect(fill('t cats in the garden', { query: string, ...optional }, ['query'])).toEqual({
    query: 'cats in the garden',
  })
  expect(fill('t "cats"', optional, [])).toEqual({})
  expect(fill('t cats, limit 5', { query: string, ...optional }, ['query'])).toEqual({
    query: 'cats',
    limit: 5,
  })
})

test('the last resort is the rest of the clause', () => {
  expect(fill('t for big cats in space, please', { query: string })).toEqual({
    query: 'big cats in space',
  })
  expect(fill('t notes', { path: string })).toEqual({ path: 'notes' })
  expect(fill('t big cats', { path: string })).toEqual({ missing: ['path'] })
})

test('a default stands in for a required argument that is not given', () => {
  expect(fill('t', { level: { enum: ['low', 'high'], default: 'low' } })).toEqual({ level: 'low' })
})

test('a schema that makes no sense has no arguments', () => {
  const $ref = 'https://example.com/city'
  expect(fillSchema('t Oslo', { properties: { city: { $ref } }, required: true })).toEqual({})
  expect(fill('t city=Oslo', { city: { type: 'stirng' } })).toEqual({ city: 'Oslo' })
})

test('the regular expressions of a server are not run', () => {
  const code = { type: 'string', pattern: '^(a+)+$' }
  expect(fill(`t ${'a'.repeat(50)}!`, { code })).toEqual({ code: 'a'.repeat(50) })
})

test('names that every object has are ordinary names', () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"}}') as Properties
  const filled = fill('t __proto__=constructor', properties)
  expect(Object.entries(filled)).toEqual([['__proto__', 'constructor']])
})
