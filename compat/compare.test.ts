import { expect, test } from 'vitest'
import { compareObservations } from './compare.ts'

const echo = { name: 'echo', inputSchema: { type: 'object', required: ['text'] } }
const say = { name: 'say', inputSchema: { type: 'object' } }

test('equal observations have no differences', () => {
  const seen = { tools: { echo, say }, instructions: undefined }
  expect(compareObservations(seen, structuredClone(seen))).toEqual([])
})

test('every difference is found with its path and both values', () => {
  const changed = { ...echo, inputSchema: { type: 'object', required: ['texts'] }, title: 'Echo' }
  expect(compareObservations({ tools: { echo, say } }, { tools: { echo: changed } })).toEqual([
    {
      path: ['tools', 'echo', 'inputSchema', 'required', '0'],
      text: '"text" directly, "texts" through /mcp',
    },
    { path: ['tools', 'echo', 'title'], text: 'absent directly, "Echo" through /mcp' },
    { path: ['tools', 'say'], text: `${JSON.stringify(say)} directly, absent through /mcp` },
  ])
})

test('another order of a list is a difference', () => {
  expect(compareObservations({ tools: { echo, say } }, { tools: { say, echo } })).toEqual([
    { path: ['tools'], text: 'in another order through /mcp' },
  ])
})

test('parts without an observation through the gateway are not compared', () => {
  expect(compareObservations({ tools: { echo }, resources: {} }, { tools: { echo } })).toEqual([])
})

test('an empty list and an absent answer differ', () => {
  expect(compareObservations({ tools: {} }, { tools: undefined })).toHaveLength(1)
})
