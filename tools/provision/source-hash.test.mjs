import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sourceHash } from './source-hash.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'source-hash-'))
  mkdirSync(join(root, 'src', 'deep'), { recursive: true })
  writeFileSync(join(root, 'src', 'deep', 'a.ts'), 'first')
  writeFileSync(join(root, 'lock'), 'first')
})
afterEach(() => rmSync(root, { recursive: true }))

const hash = () => sourceHash(root, ['src', 'lock', 'missing'], (path) => !path.endsWith('.md'))

test('the hash of sources changes with their content and their names alone', () => {
  const first = hash()
  writeFileSync(join(root, 'src', 'deep', 'a.ts'), 'second')
  expect(hash()).not.toBe(first)
  writeFileSync(join(root, 'src', 'deep', 'a.ts'), 'first')
  expect(hash()).toBe(first)
  writeFileSync(join(root, 'lock'), 'second')
  expect(hash()).not.toBe(first)
  writeFileSync(join(root, 'lock'), 'first')
  renameSync(join(root, 'src', 'deep', 'a.ts'), join(root, 'src', 'deep', 'b.ts'))
  expect(hash()).not.toBe(first)
})

test('files that are no sources, links and installed packages do not count', () => {
  const first = hash()
  writeFileSync(join(root, 'src', 'notes.md'), '')
  symlinkSync(root, join(root, 'src', 'round'))
  mkdirSync(join(root, 'src', 'node_modules'))
  writeFileSync(join(root, 'src', 'node_modules', 'a.ts'), '')
  expect(hash()).toBe(first)
})
