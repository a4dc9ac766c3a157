import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { provideNatsServer } from './nats-server.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nats-server-test-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** A program that only tells its version. */
function fakeServer(folder, version) {
  const program = join(root, folder, 'nats-server')
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(program, `#!/bin/sh\necho "nats-server: v${version}"\n`)
  chmodSync(program, 0o755)
  return program
}

test('the server that the user chose is taken', async () => {
  const chosen = fakeServer('chosen', '2.11.4')
  fakeServer('path', '2.15.1')
  const env = { NATS_SERVER_BIN: chosen, PATH: join(root, 'path') }
  expect(await provideNatsServer(env)).toBe(chosen)
})

test('a chosen server that is too old is refused, not replaced', async () => {
  const chosen = fakeServer('chosen', '2.10.27')
  await expect(provideNatsServer({ NATS_SERVER_BIN: chosen })).rejects.toThrow(
    'version 2.10.27 is older than 2.11',
  )
})

test('an old server on PATH is passed over for a newer one further on', async () => {
  fakeServer('old', '2.9.10')
  const newer = fakeServer('new', '2.12.15')
  const env = {
    PATH: `${join(root, 'old')}:${join(root, 'new')}`,
    MCP_HOST_CACHE: join(root, 'cache'),
  }
  expect(await provideNatsServer(env)).toBe(newer)
})
