import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readJsonFile } from './read-json-file.ts'
import { ConfigError } from './settings.ts'

test('a file of settings that is nested without end is a fault that names the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'json-file-'))
  try {
    const path = join(folder, 'settings.json')
    writeFileSync(path, `${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    const read = (): unknown => readJsonFile(path, z.unknown())
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(`${path}: is nested too deeply`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
