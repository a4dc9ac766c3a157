import { expect, test } from 'vitest'

import { WaitingLine } from './waiting-line.ts'

function drain(line: WaitingLine<number>): number[] {
  const values: number[] = []
  for (let entry = line.first; entry !== undefined; entry = line.first) {
    values.push(entry.value)
    line.leave(entry)
  }
  return values
}

test('entries leave in the order in which they joined', () => {
  const line = new WaitingLine<number>()
  for (const value of [1, 2, 3]) line.join(value)
  expect(drain(line)).toEqual([1, 2, 3])
  expect(line.first).toBeUndefined()
})

test('an entry may leave from the front, the middle or the end', () => {
  for (const leaving of [
    [1],
    [2],
    [3],
    [1, 2],
    [2, 3],
    [3, 2],
    [2, 1],
    [1, 3],
    [1, 2, 3],
    [3, 2, 1],
  ]) {
    const line = new WaitingLine<number>()
    const entries = [1, 2, 3].map((value) => line.join(value))
    for (const entry of entries.toSorted(
      (a, b) => leaving.indexOf(a.value) - leaving.indexOf(b.value),
    )) {
      if (leaving.includes(entry.value)) line.leave(entry)
    }
    line.join(4)
    expect(drain(line)).toEqual([1, 2, 3, 4].filter((value) => !leaving.includes(value)))
  }
})
