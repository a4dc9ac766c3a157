import { resolve } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { findBroker } from '../servers/find-broker.ts'
import { gatewayUrl } from './gateway-url.ts'
import { writeRunFile } from './run-file.ts'
import { runningHost } from './running-host.ts'

const about = { url: 'http://127.0.0.1:3105', publicUrl: 'https://a.example', auth: [] }

test('commands find the address of the running host by its data, whatever their settings say', async () => {
  await using folder = await testFolder()
  const env = { DATA_DIR: folder.path, ENV_FILE: 'none' }
  const file = { ...about, pid: process.pid, processes: [] }
  await writeRunFile(folder.path, file)
  // A port in a file of settings is that of the next start.
  expect(runningHost({ ...env, PORT: '3000' }, '/', env)).toEqual(file)
  expect(gatewayUrl({ ...env, PORT: '3105' }, '/')).toBe(about.url)
})

test('a command whose PORT is that of another host says how to reach both', async () => {
  await using folder = await testFolder()
  const env = { DATA_DIR: folder.path, ENV_FILE: 'none', PORT: '3106' }
  await writeRunFile(folder.path, { ...about, pid: process.pid, processes: [] })
  const message = `PORT is 3106, but the host on ${folder.path} listens at port 3105. Set DATA_DIR`
  expect(() => gatewayUrl(env, '/')).toThrow(message)
})

test('a host that was killed does not run, whatever its file says', async () => {
  await using folder = await testFolder()
  const env = { DATA_DIR: folder.path, ENV_FILE: 'none' }
  // Pids end below this number.
  await writeRunFile(folder.path, { ...about, pid: 2 ** 30, processes: [] })
  expect(runningHost(env, '/', env)).toBeUndefined()
  expect(() => findBroker(env, '/')).toThrow(
    `no host runs on ${resolve(folder.path)}. Start it with: npm start. For a host on another folder set DATA_DIR`,
  )
})
