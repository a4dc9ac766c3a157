import { BusError, newEnvelope } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { PrincipalChecks } from './principal-checks.ts'

let now: number
let asked: object[]
let answer: () => boolean
let checks: PrincipalChecks
beforeEach(() => {
  now = 100_000
  asked = []
  answer = () => false
  const bus = {
    clock: { now: () => now },
    async call(_contract: unknown, _params: unknown, request: object) {
      asked.push(request)
      return { isInOrder: answer() }
    },
  }
  // Only these members are used.
  checks = new PrincipalChecks(bus as never)
})

const of = (id: string, roles: string[] = ['user']) => newEnvelope({ id, roles, scopes: [] })

test('a principal is asked for once a second, and not for a message that was just accepted', async () => {
  const isInOrder = (at: number) => checks.isInOrder(of('user:ann'), at)
  expect(await isInOrder(now - 999)).toBe(true)
  expect(asked).toEqual([])
  expect(await Promise.all([isInOrder(0), isInOrder(0)])).toEqual([false, false])
  answer = () => true
  now += 999
  expect(await isInOrder(0)).toBe(false)
  now += 1
  expect(await isInOrder(0)).toBe(true)
  expect(asked).toEqual(
    Array.from({ length: 2 }, () => ({ principal: 'user:ann', roles: ['user'] })),
  )
})

test('answers are for a principal with its roles', async () => {
  expect(await checks.isInOrder(of('user:ann'), 0)).toBe(false)
  answer = () => true
  expect(await checks.isInOrder(of('user:ann', ['admin']), 0)).toBe(true)
  expect(await checks.isInOrder(of('user:bea'), 0)).toBe(true)
})

test.each(['unavailable', 'deadline'] as const)(
  'while gateways are %s, work goes on',
  async (code) => {
    answer = () => {
      throw new BusError(code, 'nobody answers')
    }
    expect(await checks.isInOrder(of('user:ann'), 0)).toBe(true)
  },
)

test('without authentication nobody is asked', async () => {
  expect(await checks.isInOrder(of('local'), 0)).toBe(true)
  expect(await checks.isInOrder(newEnvelope('user:ann'), 0)).toBe(true)
  expect(asked).toEqual([])
})
