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
  test('lets calls pass while failures are fewer than the limit', () => {
    fail(4)
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.state).toBe('closed')
  })

  test('opens with the failure that reaches the limit, and says when to come back', () => {
    fail(5)
    expect(breaker.state).toBe('open')
    now += 10_000
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 20_000 })
  })

  test('counts the failures of the last 60 s alone, in any order with successes', () => {
    for (let i = 0; i < 20; i += 1) {
      fail(1)
      breaker.succeeded()
      now += 15_000
    }
    expect(breaker.state).toBe('closed')
    // Three of the last 45 s, and these.
    fail(1)
    expect(breaker.state).toBe('closed')
    fail(1)
    expect(breaker.state).toBe('open')
  })

  test('does not count what the caller gave up', () => {
    for (let i = 0; i < 20; i += 1) {
      breaker.enter()
      breaker.abandoned()
    }
    expect(breaker.state).toBe('closed')
  })

  test('has a limit of 5 failures in 60 s and a pause of 60 s unless told otherwise', () => {
    breaker = new CircuitBreaker({ now: () => now })
    fail(4)
    now += 59_999
    fail(1)
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 60_000 })
  })

  test('opens at once when it takes no failure', () => {
    breaker = new CircuitBreaker({ failures: 1, now: () => now })
    fail(1)
    expect(breaker.state).toBe('open')
  })
})

describe('an open breaker', () => {
  beforeEach(() => {
    fail(5)
  })

  test('lets exactly one call try after the pause', () => {
    now += 30_000
    expect(breaker.state).toBe('half-open')
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 1_000 })
    now += 600_000
    expect(breaker.enter()).toMatchObject({ kind: 'open' })
    expect(breaker.state).toBe('half-open')
  })

  test('closes when the try succeeds, and counts from nothing again', () => {
    now += 30_000
    breaker.enter()
    breaker.succeeded()
    expect(breaker.state).toBe('closed')
    fail(4)
    expect(breaker.state).toBe('closed')
    fail(1)
    expect(breaker.state).toBe('open')
  })

  test('stays open for another pause when the try fails', () => {
    now += 30_000
    breaker.enter()
    breaker.failed()
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 30_000 })
    now += 30_000
    expect(breaker.enter()).toEqual({ kind: 'pass' })
  })

  test('lets another call try when the caller gave up the first', () => {
    now += 30_000
    breaker.enter()
    breaker.abandoned()
    expect(breaker.enter()).toEqual({ kind: 'pass' })
    expect(breaker.enter()).toMatchObject({ kind: 'open' })
  })

  test('is not moved by calls from before it opened', () => {
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
