import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

test('misbehaving servers leak no resources, and every scenario ends as expected', async () => {
  const args = [join(import.meta.dirname, 'soak.ts'), '--cycles', '42', '--warm-up', '14']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(JSON.parse(stdout)).toMatchObject({ cycles: 42, grown: [], wrong: {} })
}, 120_000)
