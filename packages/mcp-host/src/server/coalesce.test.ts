import { expect, test } from 'vitest'

import { coalesce } from './coalesce.ts'

test('however many ask during a run, one more follows it', async () => {
  const gates: PromiseWithResolvers<void>[] = []
  const run = coalesce(() => {
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  })
  const first = run()
  const others = [run(), run(), run()]
  expect(gates).toHaveLength(1)
  gates[0]?.resolve()
  await first
  await Promise.resolve()
  expect(gates).toHaveLength(2)
  gates[1]?.resolve()
  await Promise.all(others)
  expect(gates).toHaveLength(2)
})

test('a run that fails does not stop the next', async () => {
  let count = 0
  const run = coalesce(async () => {
    count += 1
    if (count === 1) throw new Error('once')
  })
  const [first, second] = [run(), run()]
  await expect(first).rejects.toThrow('once')
  await second
  expect(count).toBe(2)
})
