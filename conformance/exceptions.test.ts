import { expect, test } from 'vitest'
import type { Cell } from './cells.ts'
import { expectedOf } from './exceptions.ts'

const none = { passed: 0, failed: 0 }
const direct = { scored: none, unscored: none, scenarios: { ping: none } }
const cell = (target: Cell['target']): Cell => ({ requirements: '2025-11-25', target })
const gateway = { kind: 'gateway', transport: 'http', era: 'modern', gateways: 1 } as const

test('exceptions of a given server do not apply to the fixture', () => {
  const scenarios = (isGiven: boolean): string[] =>
    Object.keys(expectedOf(cell(gateway), direct, isGiven).scenarios)
  expect(scenarios(true)).toContain('server-sse-polling')
  expect(scenarios(false)).not.toContain('server-sse-polling')
  expect(expectedOf(cell({ kind: 'direct' }), direct, true)).toEqual(direct)
})
