import { expect, test } from 'vitest'
import { ServerLists } from './catalog-entry.ts'

test("the properties of a tool's schema are not copied", () => {
  const properties = { text: { type: 'string', enum: ['a', 'b'] } }
  const lists = { tools: [{ name: 'add', inputSchema: { type: 'object', properties } }] }
  const parsed = ServerLists.parse(lists)
  expect(parsed).toEqual(lists)
  expect(parsed.tools[0]?.inputSchema['properties']).toBe(properties)
})

test.each([
  [256, true],
  [257, false],
])('a schema of %i levels is accepted: %s', (levels, isAccepted) => {
  const inputSchema = JSON.parse(
    '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1),
  ) as object
  expect(ServerLists.safeParse({ tools: [{ name: 'add', inputSchema }] }).success).toBe(isAccepted)
})

test.each([[[]], ['object'], [null]])('a tool with the schema %j is refused', (inputSchema) => {
  expect(ServerLists.safeParse({ tools: [{ name: 'add', inputSchema }] }).success).toBe(false)
})
