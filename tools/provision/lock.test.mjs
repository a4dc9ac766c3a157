import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from './lock.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lock-test-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('the second holder works only after the first has finished, and is told that it waits', async () => {
  const lock = join(root, 'lock')
  const firstMayEnd = Promise.withResolvers()
  const secondWaits = Promise.withResolvers()
  const order = []

  const first = withLock(lock, async () => {
    await firstMayEnd.promise
    order.push('first')
  })
  const second = withLock(lock, () => order.push('second'), secondWaits.resolve)
  await secondWaits.promise
  firstMayEnd.resolve()
  await Promise.all([first, second])

  expect(order).toEqual(['first', 'second'])
  expect(readdirSync(root)).toEqual([])
})

test('a lock whose owner is dead does not hold anybody up', async () => {
  const lock = join(root, 'lock')
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(lock, String(pid))

  expect(await withLock(lock, () => 'done')).toBe('done')
  expect(readdirSync(root)).toEqual([])
})

test('a lock is given back when the work fails', async () => {
  const lock = join(root, 'lock')
  const failing = withLock(lock, () => Promise.reject(new Error('broken')))
  await expect(failing).rejects.toThrow('broken')
  expect(readdirSync(root)).toEqual([])
})
