import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { expect, test } from 'vitest'
import { VERSION } from './operations.ts'

test('the version is that of the workspace', () => {
  const file = join(import.meta.dirname, '..', '..', '..', 'package.json')
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(file, 'utf8')))
  expect(VERSION).toBe(version)
})
