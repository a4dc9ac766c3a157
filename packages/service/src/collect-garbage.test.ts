import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { collectWhenQuiet } from './collect-garbage.ts'

const CHECK_MS = 20
const ALWAYS = 2
const NEVER = 0

const makeGarbage = (): WeakRef<object> =>
  new WeakRef(Array.from({ length: 1_000_000 }, (_, index) => ({ index })))

test('a quiet process collects its garbage, and one that works does not', async () => {
  const garbage = makeGarbage()
  using works = collectWhenQuiet(CHECK_MS, NEVER)
  await delay(10 * CHECK_MS)
  expect(garbage.deref()).toBeDefined()
  works[Symbol.dispose]()
  using _ = collectWhenQuiet(CHECK_MS, ALWAYS)
  await eventually(() => garbage.deref() === undefined)
})
