import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { elementLines } from './element-lines.ts'

test.each([
  [
    'a.json',
    '{\n  // why\n  "rules": [\n    { "a": [1] },\n\n    { "b": "[" }, {}\n  ],\n}',
    [4, 6, 6],
  ],
  ['a.yaml', '# why\nrules:\n  - a: 1\n    b: 2\n  - c: 3\n', [3, 5]],
  ['none.json', '{ "default": "deny" }', []],
])('the elements of the list in %s have their lines', async (name, text, lines) => {
  await using folder = await testFolder()
  const path = join(folder.path, name)
  await writeFile(path, text)
  expect(elementLines(path, 'rules')).toEqual(lines)
})

test('a file that is missing has no lines', () => {
  expect(elementLines('/nowhere/policy.json', 'rules')).toEqual([])
})
