import { expect, test } from 'vitest'
import { waitingText } from './waiting-text.ts'

test.each([
  [0, ''],
  [1, '1 call waits for you'],
  [12, '12 calls wait for you'],
])('with %i waiting calls the navigation says "%s"', (count, text) => {
  expect(waitingText(count)).toBe(text)
})
