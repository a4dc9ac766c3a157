import { beforeEach, describe, expect, test } from 'vitest'

import { CircuitBreaker } from './circuit-breaker.ts'

let now = 0
let breaker: CircuitBreaker

beforeEach(() => {
  now = 0
  breaker = new CircuitBreaker({ failures: 5, windowMs: 60_000, openMs: 30_000, now: () => now })
})

function fail(times: number): void {
  for (let i = 0; i < times; i += 1) {
    breaker.enter()
    breaker.failed()
  }
}

describe('a closed breaker', () => {
  test('a closed breaker admits calls while failures are fewer than the limit', () => {
    fail(4)
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.state).toBe('closed')
  })

  test('a closed breaker opens with the failure that reaches the limit, and gives the delay for a retry', () => {
    fail(5)
    expect(breaker.state).toBe('open')
    now += 10_000
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 20_000 })
  })

  test('a closed breaker counts the failures of the last 60 s, in any order with successes', () => {
    for (let i = 0; i < 20; i += 1) {
      fail(1)
      breaker.succeeded()
      now += 15_000
    }
    expect(breaker.state).toBe('closed')
    // With three failures of the last 45 s, this is the fourth.
    fail(1)
    expect(breaker.state).toBe('closed')
    fail(1)
    expect(breaker.state).toBe('open')
  })

  test('a closed breaker does not count abandoned calls', () => {
    for (let i = 0; i < 20; i += 1) {
      breaker.enter()
      breaker.abandoned()
    }
    expect(breaker.state).toBe('closed')
  })

  test('a closed breaker opens after 5 failures in 60 s, for 60 s, by default', () => {
    breaker = new CircuitBreaker({ now: () => now })
    fail(4)
    now += 59_999
    fail(1)
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 60_000 })
  })

  test('a breaker with a limit of one failure opens at once', () => {
    breaker = new CircuitBreaker({ failures: 1, now: () => now })
    fail(1)
    expect(breaker.state).toBe('open')
  })
})

describe('an open breaker', () => {
  beforeEach(() => {
    fail(5)
  })

  test('an open breaker admits exactly one probe after its time', () => {
    now += 30_000
    expect(breaker.state).toBe('half-open')
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 1_000 })
    now += 600_000
    expect(breaker.enter()).toMatchObject({ kind: 'open' })
    expect(breaker.state).toBe('half-open')
  })

  test('an open breaker closes when the probe succeeds, and resets its count', () => {
    now += 30_000
    breaker.enter()
    breaker.succeeded()
    expect(breaker.state).toBe('closed')
    fail(4)
    expect(breaker.state).toBe('closed')
    fail(1)
    expect(breaker.state).toBe('open')
  })

  test('an open breaker stays open for the same time when the probe fails', () => {
    now += 30_000
    breaker.enter()
    breaker.failed()
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 30_000 })
    now += 30_000
    expect(breaker.enter()).toEqual({ kind: 'pass' })
  })

  test('an open breaker admits another probe when the first was abandoned', () => {
    now += 30_000
    breaker.enter()
    breaker.abandoned()
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.enter()).toMatchObject({ kind: 'open' })
  })

  test('an open breaker ignores the outcomes of earlier calls', () => {
    now += 10_000
    breaker.failed()
    breaker.succeeded()
    breaker.abandoned()
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 20_000 })
    now += 20_000
    breaker.failed()
    breaker.succeeded()
    expect(breaker.enter()).toEqual({ kind: 'pass' })
  })
})
