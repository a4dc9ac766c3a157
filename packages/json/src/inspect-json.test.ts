import { expect, test } from 'vitest'

import { inspectJson, JsonInspector } from './inspect-json.ts'

const inspect = (text: string): ReturnType<typeof inspectJson> => inspectJson(Buffer.from(text))
const long = 'x'.repeat(100)

test.each([
  ['{}', 1, 1],
  ['[{},{}]', 4, 2],
  ['{"a":1,"b":[2,3]}', 6, 2],
  [JSON.stringify([long, `${long}"[{,:`, '\\', `${long}\\`, `${long}\\"[`]), 5, 1],
  [JSON.stringify(['"[', '\\"[', 'a\\\\"[']), 3, 1],
  ['['.repeat(500), 500, 500],
  ['"never ended [', 0, 0],
  ['"\\', 0, 0],
  ['', 0, 0],
])('the shape of %s is %i values with depth %i', (text, values, depth) => {
  expect(inspect(text)).toMatchObject({ values, depth })
})

test.each([
  ['{"jsonrpc":"2.0","id":1000000007,"result":{"id":3,"method":"x"}}', 1_000_000_007, false],
  ['{"result":{"id":3},"id" : "abc" }', 'abc', false],
  ['{"method":"ping","id":-4}', -4, true],
  ['{"method":"notifications/message","params":{"id":9}}', undefined, true],
  ['{"jsonrpc":"id","result":"method"}', undefined, false],
  ['{"id":1.5}', undefined, false],
  [`{"id":"${'x'.repeat(100)}"}`, undefined, false],
])('the id and the kind of %s are found', (text, id, hasMethod) => {
  expect(inspect(text)).toMatchObject({ id, hasMethod })
})

test.each([
  `{"jsonrpc":"2.0","id" : "a1","result":{"id":3,"text":"\\\\\\"[{,:${long}\\\\"}}`,
  '{"result":[{},{"method":1}],"method":"ping","id":-42}',
])('the shape of %s is the same for any split into chunks', (text) => {
  const bytes = Buffer.from(text)
  const { values, depth, id, hasMethod } = inspectJson(bytes)
  for (let size = 1; size < bytes.length; size += 1) {
    const inspector = new JsonInspector()
    for (let at = 0; at < bytes.length; at += size) inspector.push(bytes.subarray(at, at + size))
    expect(inspector).toMatchObject({ values, depth, id, hasMethod, bytes: bytes.length })
  }
})

test('a string of many escaped quotes is inspected in linear time', () => {
  const text = JSON.stringify([`${'"'.repeat(200_000)}${`${long}"`.repeat(2_000)}`])
  expect(inspect(text)).toMatchObject({ values: 1, depth: 1 })
})

test('the inspection ends once there are too many values and the id is known', () => {
  const text = `{"id":1,"result":[${'{},'.repeat(1_000)}1]}`
  expect(inspectJson(Buffer.from(text), 100)).toMatchObject({ id: 1, values: 101 })
  const late = `{"result":[${'{},'.repeat(1_000)}1],"id":1}`
  expect(inspectJson(Buffer.from(late), 100)).toMatchObject({ id: 1, values: 2_005 })
})
