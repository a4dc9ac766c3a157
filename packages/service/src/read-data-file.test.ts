import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readDataFile } from './read-data-file.ts'
import { ConfigError } from './settings.ts'

test.each([
  [
    'rules.json',
    '{\n  "rules": [{ "tool": "x", "effect": "deny" }], // all\n  "rules": [],\n}',
    'line 3 has the key "rules" again',
  ],
  ['deep.json', '[{ "a": { "b": 1, "\\u0062": 2 } }]', 'line 1 has the key "b" again'],
  ['rules.yaml', 'rules: []\nrules: []\n', 'line 2 is not valid YAML (Map keys must be unique'],
])('a key that %s has twice is a fault with its line', (name, text, fault) => {
  const folder = mkdtempSync(join(tmpdir(), 'json-file-'))
  try {
    const path = join(folder, name)
    writeFileSync(path, text)
    expect(() => readDataFile(path, z.unknown())).toThrow(`${path}: ${fault}`)
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
