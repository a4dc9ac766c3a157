import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readDataFile } from './read-data-file.ts'
import { ConfigError } from './settings.ts'

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
