import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { SlotMap } from './slot-map.ts'

test('an entry is found under its key until it is deleted', () => {
  const map = new SlotMap<{ n: number }>()
  const keys = [1, 2, 3].map((n) => map.add({ n }))
  expect(new Set(keys).size).toBe(3)
  expect(keys.map((key) => map.get(key)?.n)).toEqual([1, 2, 3])
  expect([map.delete(keys[1]!), map.delete(keys[1]!)]).toEqual([true, false])
  expect(map.get(keys[1]!)).toBeUndefined()
  expect([map.size, Array.from(map.values(), ({ n }) => n)]).toEqual([2, [1, 3]])
})

test('the key of a deleted entry does not find a later entry', () => {
  const map = new SlotMap<{ n: number }>()
  const seen = new Set<number>()
  for (let n = 0; n < 10_000; n++) {
    const key = map.add({ n })
    expect(Number.isSafeInteger(key) && !seen.has(key)).toBe(true)
    for (const old of [...seen].slice(-3)) expect(map.get(old)).toBeUndefined()
    seen.add(key)
    map.delete(key)
  }
  expect(map.size).toBe(0)
})

test('an unknown key finds no entry', () => {
  const map = new SlotMap<object>()
  const key = map.add({})
  for (const other of [0, -1, key + 1, key + 0.5, Number.NaN, Infinity, 2 ** 60]) {
    expect(map.get(other)).toBeUndefined()
    expect(map.delete(other)).toBe(false)
  }
})

test('a slot map grows with its entries', () => {
  const map = new SlotMap<{ n: number }>()
  const keys = Array.from({ length: 5_000 }, (_, n) => map.add({ n }))
  for (const key of keys.filter((_, index) => index % 2 === 0)) map.delete(key)
  const later = Array.from({ length: 5_000 }, (_, n) => map.add({ n: n + 5_000 }))
  expect(map.size).toBe(7_500)
  expect(later.map((key) => map.get(key)?.n)).toEqual(later.map((_, n) => n + 5_000))
  expect(map.get(keys[1]!)?.n).toBe(1)
})

test('deleted entries do not accumulate in the old generation', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const map = new SlotMap<object>()
  const keys = Array.from({ length: 64 }, () => map.add({}))
  // The slots are in the old generation from here on.
  collect()
  const before = oldBytes()
  for (let n = 0; n < 300_000; n++) {
    map.delete(keys[n % keys.length] ?? 0)
    keys[n % keys.length] = map.add(Array.from({ length: 20 }, () => n))
  }
  expect(oldBytes() - before).toBeLessThan(2_000_000)
})

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics()
  return spaces.find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Infinity
}
