import { expect, test } from 'vitest'
import { compare } from './open-pages.ts'

const stored = new Map([
  ['m1', 'hi hello ok'],
  ['m2', 'and? bye'],
])

test.each([
  { what: 'the same', shown: [...stored], differences: [] },
  {
    what: 'a lost message',
    shown: [...stored].slice(1),
    differences: ['"m2" in place of "m1 m2"'],
  },
  {
    what: 'another order',
    shown: [...stored].toReversed(),
    differences: ['"m2 m1" in place of "m1 m2"'],
  },
  {
    what: 'a doubled text and another outcome',
    shown: [
      ['m1', 'hi hello hello unknown'],
      ['m2', 'and? bye'],
    ] as const,
    differences: ['"hi hello hello unknown" in place of "hi hello ok"'],
  },
])('a page with $what is compared with the history', ({ shown, differences }) => {
  const found = compare('one', stored, new Map(shown)).map(({ detail }) => detail)
  expect(found).toEqual(differences.map((each) => expect.stringContaining(each)))
})
