import { expect, test } from 'vitest'
import { namedTools, toTools } from './tools.ts'

const offered = ['a__first', 'b__second'].map((safeName) => ({
  safeName,
  server: 'x',
  tool: safeName,
  inputSchema: { type: 'object' },
}))

test('a tool with an unsupported schema is left out with the reason', () => {
  const unsupported = { ...offered[0], safeName: 'c__unsupported', inputSchema: { type: 'array' } }
  const { tools, leftOut } = toTools([...offered, unsupported as (typeof offered)[0]])
  expect(tools.map(({ name }) => name)).toEqual(['a__first', 'b__second'])
  expect(leftOut).toEqual([{ tool: 'c__unsupported', reason: 'its arguments are no object' }])
})

const { tools } = toTools(offered)
const named = (says: string): string[] => namedTools(says, tools).map(({ name }) => name)

test.each([
  ["Invalid schema for function 'b__second': schema must have a type", ['b__second']],
  ['tools.1.custom.input_schema: JSON schema is invalid', ['b__second']],
  ['tools[0].function.parameters is not valid', ['a__first']],
  [
    'GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty',
    ['b__second'],
  ],
  [
    '* GenerateContentRequest.tools[0].function_declarations[0].parameters: no\n* GenerateContentRequest.tools[0].function_declarations[1].parameters: no',
    ['a__first', 'b__second'],
  ],
  ['b__second and a__first have no type', ['a__first', 'b__second']],
  ['messages: at least one message is required', []],
  ['tools.7.custom: no', []],
  ['a__first_of_all is missing', []],
])('the refusal %j names %j', (says, names) => {
  expect(named(says)).toEqual(names)
})
