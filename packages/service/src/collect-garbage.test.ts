import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { collectWhenQuiet } from './collect-garbage.ts'

test('a quiet process collects its garbage', async () => {
  const garbage = new WeakRef(Array.from({ length: 1_000_000 }, (_, index) => ({ index })))
  using _ = collectWhenQuiet(50)
  await eventually(() => garbage.deref() === undefined)
  expect(garbage.deref()).toBeUndefined()
})
