import { expect, test } from 'vitest'
import { z } from 'zod'
import { JsonObject, JsonValue } from './json-value.ts'
import { ApprovalRequired } from './session/turn-event.ts'
import { RunToolRequest } from './tool/run-tool.ts'

const hostile = '{"__proto__":{"all":true},"list":[{"__proto__":1,"constructor":2}],"1":0}'
const sent = JSON.stringify(JSON.parse(hostile))

test.each<[string, z.ZodType]>([
  ['run', RunToolRequest.shape.arguments],
  ['shown in a question', ApprovalRequired.shape.arguments],
  ['of any kind', JsonValue],
])('arguments that are %s are passed on with every key', (_, schema) => {
  expect(JSON.stringify(schema.parse(JSON.parse(hostile)))).toBe(sent)
})

test.each([
  [JsonValue, undefined, 'is missing'],
  [JsonObject, [], 'must be an object'],
  [JsonObject, null, 'must be an object'],
  [JsonValue, JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`), 'nested too deeply'],
])('other values than JSON of some depth are refused', (schema, value, message) => {
  const { error } = z.object({ value: schema }).safeParse({ value })
  expect(error?.issues.map((issue) => issue.message)).toEqual([message])
})
