import { expect, test } from 'vitest'

import { moveState } from './server-state.ts'

test('a server that is shut down cannot be started', () => {
  expect(() => moveState('shutdown', 'starting')).toThrow('cannot go from shutdown to starting')
})

test('a server can be stopped from any running state', () => {
  for (const state of ['starting', 'ready', 'unavailable'] as const) {
    expect(moveState(state, 'stopping')).toBe('stopping')
  }
  expect(moveState('stopping', 'shutdown')).toBe('shutdown')
})

test('an unavailable server cannot become ready without a start', () => {
  expect(() => moveState('unavailable', 'ready')).toThrow('cannot go')
})
