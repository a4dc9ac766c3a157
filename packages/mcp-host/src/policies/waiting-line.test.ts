import { expect, test } from 'vitest'

import { WaitingLine } from './waiting-line.ts'

function drain(line: WaitingLine<number>): number[] {
  const values: number[] = []
  for (let place = line.first; place !== undefined; place = line.first) {
    values.push(place.value)
    line.leave(place)
  }
  return values
}

test('the first that came is served first', () => {
  const line = new WaitingLine<number>()
  for (const value of [1, 2, 3]) line.join(value)
  expect(drain(line)).toEqual([1, 2, 3])
  expect(line.first).toBeUndefined()
})

test('leaving from the front, the middle or the end closes the gap', () => {
  for (const gone of [
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
    const places = [1, 2, 3].map((value) => line.join(value))
    for (const place of places.toSorted((a, b) => gone.indexOf(a.value) - gone.indexOf(b.value))) {
      if (gone.includes(place.value)) line.leave(place)
    }
    line.join(4)
    expect(drain(line)).toEqual([1, 2, 3, 4].filter((value) => !gone.includes(value)))
  }
})
