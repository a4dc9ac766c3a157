import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readDataFile } from './read-data-file.ts'
import { ConfigError } from './settings.ts'

test.each([
  [
    'rules.json',
    '{\n  "rules": [{ "tool": "x", "effect": "deny" }], // all\n  "rules": [],\n}',
    ':3:3: has the key "rules" again',
  ],
  ['deep.json', '[{ "a": { "b": 1, "\\u0062": 2 } }]', ':1:19: has the key "b" again'],
  ['rules.yaml', 'rules: []\nrules: []\n', ':2:1: is not valid YAML (Map keys must be unique'],
])('a key that %s has twice is a fault with its line', (name, text, fault) => {
  const folder = mkdtempSync(join(tmpdir(), 'json-file-'))
  try {
    const path = join(folder, name)
    writeFileSync(path, text)
    expect(() => readDataFile(path, z.unknown())).toThrow(`${path}${fault}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('objects of a settings file may have the same keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'json-file-'))
  try {
    const path = join(folder, 'settings.json')
    writeFileSync(path, '[{ "a": { "a": 1 }, "b": 1 }, { "a": { "b": 1 } }]')
    expect(readDataFile(path, z.unknown())).toHaveLength(2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a settings file that is nested too deep is a fault with the name of the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'json-file-'))
  try {
    const path = join(folder, 'settings.json')
    writeFileSync(path, `${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    const read = (): unknown => readDataFile(path, z.unknown())
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(`${path}: is nested too deeply`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each([
  [
    'a.json',
    '{\n  "rules": [\n    { "tool": "x", "effect": "never" }\n  ]\n}',
    ':3:30: rules.0.effect: ',
  ],
  ['a.yaml', 'rules:\n  - tool: x\n    effect: never\n', ':3:13: rules.0.effect: '],
  [
    'key.json',
    '{\n  "rules": [{ "effect": "deny", "efect": 1 }] }',
    ':2:33: rules.0: Unrecognized key',
  ],
  ['key.yaml', 'rules:\n  - efect: 1\n    effect: deny\n', ':2:5: rules.0: Unrecognized key'],
  ['missing.json', '{\n  "rules": [{}] }', ':2:13: rules.0.effect: '],
  [
    'union.json',
    '{ "rules": [{ "effect": "deny",\n "tool": ["x", 5] }] }',
    ':2:16: rules.0.tool.1: ',
  ],
  ['syntax.json', '{\n  "rules": [}', ':2:13: is not valid JSON (value expected)'],
])('a fault of %s has its line, its column and its field', async (name, text, fault) => {
  const effect = z.enum(['allow', 'deny'])
  const tool = z.union([z.string(), z.array(z.string())]).optional()
  const schema = z.object({ rules: z.array(z.strictObject({ effect, tool })) })
  await using folder = await testFolder()
  const path = join(folder.path, name)
  writeFileSync(path, text)
  expect(() => readDataFile(path, schema)).toThrow(`${path}${fault}`)
})
