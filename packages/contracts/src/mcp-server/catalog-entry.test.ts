import { expect, test } from 'vitest'
import { ServerLists } from './catalog-entry.ts'

test('the schema of a listed tool is passed on without a copy of its properties', () => {
  const properties = { text: { type: 'string', enum: ['a', 'b'] } }
  const lists = { tools: [{ name: 'add', inputSchema: { type: 'object', properties } }] }
  const parsed = ServerLists.parse(lists)
  expect(parsed).toEqual(lists)
  expect(parsed.tools[0]?.inputSchema['properties']).toBe(properties)
})

test.each([
  [256, true],
  [257, false],
])('whether a schema of %i levels is accepted is %s', (levels, isTaken) => {
  const inputSchema = JSON.parse(
    '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1),
  ) as object
  expect(ServerLists.safeParse({ tools: [{ name: 'add', inputSchema }] }).success).toBe(isTaken)
})

test.each([[[]], ['object'], [null]])('a tool with %j as its schema is refused', (inputSchema) => {
  expect(ServerLists.safeParse({ tools: [{ name: 'add', inputSchema }] }).success).toBe(false)
})
