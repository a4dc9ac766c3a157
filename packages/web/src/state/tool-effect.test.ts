import { expect, test } from 'vitest'
import { effectOf } from './tool-effect.ts'

test.each([
  [undefined, undefined],
  [{}, undefined],
  [{ readOnlyHint: true }, 'reads'],
  [{ readOnlyHint: true, destructiveHint: true }, 'reads'],
  [{ destructiveHint: false }, 'writes'],
  [{ readOnlyHint: false }, 'destroys'],
  [{ readOnlyHint: false, destructiveHint: false }, 'writes'],
  [{ destructiveHint: true }, 'destroys'],
])('the effect of a tool with the annotations %o is %s', (annotations, effect) => {
  expect(effectOf(annotations === undefined ? {} : { annotations })).toBe(effect)
})
