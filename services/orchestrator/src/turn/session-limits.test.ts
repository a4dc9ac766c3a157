import { toolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { claim, fold, input, next, result, session } from '../context/__fixtures__/facts.ts'
import { generationId } from '@mcp-host/contracts'
import { sessionLimits } from './session-limits.ts'

const call = (generation: number, index: number) => ({
  type: 'tool-call' as const,
  id: toolCallId(generationId(session, generation), index),
  name: 'n',
  arguments: {},
})
const limits = { maxToolCalls: 25, maxSessionToolCalls: 0 }
const chosen = (maxToolCalls: number | null) => ({
  kind: 'control' as const,
  fact: { type: 'settings-chosen' as const, maxToolCalls },
})

test('a session may set its own limit of tool calls and reset it', () => {
  const limitAfter = (...facts: Parameters<typeof fold>): number =>
    sessionLimits(limits, fold(...facts), 1).maxToolCalls
  expect(limitAfter()).toBe(25)
  expect(limitAfter(chosen(3))).toBe(3)
  expect(limitAfter(chosen(3), chosen(0))).toBe(0)
  expect(limitAfter(chosen(3), chosen(null))).toBe(25)
})

test('the limit of a turn is what is left of the limit of its session', () => {
  const state = fold(
    input('a', 'a'),
    claim(1, 1),
    result(1, [call(1, 0), call(1, 1)]),
    next(1, 2),
    input('b', 'b'),
    claim(5, 3),
    result(3, [call(3, 0)]),
  )
  const left = (maxSessionToolCalls: number): number =>
    sessionLimits({ ...limits, maxSessionToolCalls }, state, 5).maxToolCalls
  // The calls of the turn itself do not reduce its own limit.
  expect([left(0), left(100), left(5), left(2), left(1)]).toEqual([25, 25, 3, 0, 0])
})
