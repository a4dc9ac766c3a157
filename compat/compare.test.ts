import { expect, test } from 'vitest'
import { compareObservations } from './compare.ts'

const echo = { name: 'echo', inputSchema: { type: 'object', required: ['text'] } }
const say = { name: 'say', inputSchema: { type: 'object' } }

test('the same answers do not differ', () => {
  const seen = { tools: { echo, say }, instructions: undefined }
  expect(compareObservations(seen, structuredClone(seen))).toEqual([])
})

test('a difference is found where it is, and on either side', () => {
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

test('a list in another order differs', () => {
  expect(compareObservations({ tools: { echo, say } }, { tools: { say, echo } })).toEqual([
    { path: ['tools'], text: 'in another order through /mcp' },
  ])
})

test('parts that the gateway was not asked for are not compared', () => {
  expect(compareObservations({ tools: { echo }, resources: {} }, { tools: { echo } })).toEqual([])
})

test('an empty list and an absent answer differ', () => {
  expect(compareObservations({ tools: {} }, { tools: undefined })).toHaveLength(1)
})
