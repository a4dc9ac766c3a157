import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprint } from './workspace.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workspace-test-'))
  write('pnpm-lock.yaml', 'lockfileVersion: 9')
  write('pnpm-workspace.yaml', 'packages: []')
  write('package.json', '{}')
  write('packages/one/package.json', '{}')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(file, content) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), content)
}

test.each([
  ['the lock file', 'pnpm-lock.yaml'],
  ['the workspace settings', 'pnpm-workspace.yaml'],
  ['the root manifest', 'package.json'],
  ['a package’s manifest', 'packages/one/package.json'],
  ['a new service', 'services/two/package.json'],
])('a change of %s asks for an install', (_what, file) => {
  const before = fingerprint(root)
  write(file, '{"changed": true}')
  expect(fingerprint(root)).not.toBe(before)
})

test('another major version of Node asks for an install', () => {
  expect(fingerprint(root, '24')).not.toBe(fingerprint(root, '26'))
})

test('a change of sources asks for nothing', () => {
  const before = fingerprint(root)
  write('packages/one/src/index.ts', 'export {}')
  expect(fingerprint(root)).toBe(before)
})
