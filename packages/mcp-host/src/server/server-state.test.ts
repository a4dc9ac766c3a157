import { expect, test } from 'vitest'

import { moveState } from './server-state.ts'

test('a server that is shut down stays so', () => {
  expect(() => moveState('shutdown', 'starting')).toThrow('cannot go from shutdown to starting')
})

test('a server stops from any state that it lives in', () => {
  for (const state of ['starting', 'ready', 'unavailable'] as const) {
    expect(moveState(state, 'stopping')).toBe('stopping')
  }
  expect(moveState('stopping', 'shutdown')).toBe('shutdown')
})

test('a server that is unavailable does not become ready unasked', () => {
  expect(() => moveState('unavailable', 'ready')).toThrow('cannot go')
})
