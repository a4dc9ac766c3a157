import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

test('misbehaving servers leak no resources, and every scenario ends as expected', async () => {
  const args = [join(import.meta.dirname, 'soak.ts'), '--cycles', '210', '--warm-up', '84']
  // The program exits with 1 after its report when a resource grew.
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: { stdout: string }) => error,
  )
  expect(JSON.parse(stdout)).toMatchObject({ cycles: 210, grown: [], wrong: {} })
}, 600_000)
