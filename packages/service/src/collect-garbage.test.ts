import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { collectWhenQuiet } from './collect-garbage.ts'

const CHECK_MS = 20
const always = { checkMs: CHECK_MS, quiet: 2, maxHeapBytes: Infinity }

const makeGarbage = (): WeakRef<object> =>
  new WeakRef(Array.from({ length: 1_000_000 }, (_, index) => ({ index })))

test.each([
  ['works', { quiet: 0 }],
  ['has a large heap', { maxHeapBytes: 0 }],
])('a quiet process collects its garbage, and one that %s does not', async (_, more) => {
  const garbage = makeGarbage()
  using waits = collectWhenQuiet({ ...always, ...more })
  await delay(10 * CHECK_MS)
  expect(garbage.deref()).toBeDefined()
  waits[Symbol.dispose]()
  using collects = collectWhenQuiet(always)
  await eventually(() => garbage.deref() === undefined)
  collects[Symbol.dispose]()
})

test('a process that has collected its garbage does so again only when it stays quiet', async () => {
  const first = makeGarbage()
  using collects = collectWhenQuiet({ ...always, quietChecksAfter: 50 })
  await eventually(() => first.deref() === undefined)
  const second = makeGarbage()
  await delay(10 * CHECK_MS)
  expect(second.deref()).toBeDefined()
  await eventually(() => second.deref() === undefined)
  collects[Symbol.dispose]()
})
