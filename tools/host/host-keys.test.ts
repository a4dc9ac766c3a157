import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { credential } from './credential.ts'
import { ensureOperatorKey } from './host-keys.ts'

test('only the user of the host can read the operator key, also where an open file was in its place', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'operator-key')
  await writeFile(path, '', { mode: 0o644 })
  const key = await ensureOperatorKey(folder.path)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await ensureOperatorKey(folder.path)).toBe(key)
})

test('the operator key is sent to the host on its data, and to no gateway that --url names', async () => {
  await using folder = await testFolder()
  const key = await ensureOperatorKey(folder.path)
  const env = { DATA_DIR: folder.path, ENV_FILE: 'none' }
  const about = { env, root: folder.path, token: undefined }
  expect(credential({ ...about, url: undefined })).toEqual({ authorization: `Bearer ${key}` })
  expect(credential({ ...about, url: 'http://127.0.0.1:3000' })).toEqual({})
})
