import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { Guardian } from '@mcp-host/process'
import { expect, test } from 'vitest'
import { startBalancer } from './balancer.ts'
import { startGivenServer } from './given-server.ts'

const program =
  "console.log('here'); http.createServer((_, response) => response.end('hello')).listen(process.env.PORT)"

test('a given server is started by its command, and reached at /mcp of its PORT', async () => {
  await using folder = await testFolder()
  await using guardian = new Guardian()
  const url = await startGivenServer(guardian, `node -e "${program}"`, folder.path)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
  expect(await (await fetch(url)).text()).toBe('hello')
  expect(await readFile(join(folder.path, 'server.log'), 'utf8')).toBe('here\n')
  await using front = await startBalancer([url], { isLegacy: true })
  const ask = (version: string) =>
    fetch(front.url, { headers: { 'mcp-protocol-version': version } })
  expect(await (await ask('2025-11-25')).text()).toBe('hello')
  const refused = await ask('2026-07-28')
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: -32_000 } }])
})

test('a command that ends before its server listens is refused', async () => {
  await using folder = await testFolder()
  await using guardian = new Guardian()
  const started = startGivenServer(guardian, 'exit 3', folder.path)
  await expect(started).rejects.toThrow('the server did not start (exit code 3): exit 3')
})
