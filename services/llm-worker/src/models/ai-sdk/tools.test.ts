import { APICallError } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { refusedTool, toTools } from './tools.ts'

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

function refusal(text: string, statusCode = 400): APICallError {
  return new APICallError({
    message: 'Bad Request',
    url: 'http://provider',
    requestBodyValues: {},
    statusCode,
    responseBody: JSON.stringify({ error: { message: text } }),
  })
}

test.each([
  ["Invalid schema for function 'b__second': schema must have a type", 'b__second'],
  ['tools.1.custom.input_schema: JSON schema is invalid', 'b__second'],
  ['tools[0].function.parameters is not valid', 'a__first'],
  [
    'GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty',
    'b__second',
  ],
])('the refusal %j names a tool', (text, name) => {
  expect(refusedTool(refusal(text), tools)?.name).toBe(name)
})

test.each([
  refusal('messages: at least one message is required'),
  refusal('tools.7.custom: no'),
  refusal("Invalid schema for function 'b__second'", 500),
  new Error('b__second'),
])('the failure "%s" names no tool', (error) => {
  expect(refusedTool(error, tools)).toBeUndefined()
})
