import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acquireLock, withLock } from './lock.mjs'
import { processStart } from './process-start.mjs'

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

test('a lock whose pid belongs to another process meanwhile does not hold anybody up', async () => {
  const lock = join(root, 'lock')
  // This process runs, and began at another time; the second is of a version that noted no times.
  for (const left of [`${process.pid} another-boot-1`, String(process.pid)]) {
    writeFileSync(lock, left)
    expect(await withLock(lock, () => 'done')).toBe('done')
  }
})

test('a lock names the pid and the start of its owner, which hold it together', async () => {
  const lock = join(root, 'lock')
  await withLock(lock, () => {
    expect(readFileSync(lock, 'utf8')).toBe(`${process.pid} ${processStart(process.pid)}`)
    expect(acquireLock(lock)).toBe(process.pid)
  })
})

test('a lock is given back when the work fails', async () => {
  const lock = join(root, 'lock')
  const failing = withLock(lock, () => Promise.reject(new Error('broken')))
  await expect(failing).rejects.toThrow('broken')
  expect(readdirSync(root)).toEqual([])
})
