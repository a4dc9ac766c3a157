import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { Guardian } from '@mcp-host/process'
import { expect, test } from 'vitest'
import { startService } from './service-process.ts'

test('a service that does not start is explained by the log of this start, not of earlier ones', async () => {
  await using folder = await testFolder()
  await using guardian = new Guardian()
  await mkdir(folder.path, { recursive: true })
  await writeFile(join(folder.path, 'gateway.log'), 'a fault of yesterday\n')
  const env = { PATH: process.env['PATH'], PORT: 'many' }
  const start = startService(guardian, { name: 'gateway', env, folder: folder.path })
  const message = await start.then(
    () => 'started',
    (error: Error) => error.message,
  )
  expect(message).toContain('PORT=many')
  expect(message).not.toContain('yesterday')
})
