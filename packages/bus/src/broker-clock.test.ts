import { beforeEach, expect, test } from 'vitest'
import { BrokerClock } from './broker-clock.ts'

/** True time, that of the broker, and that of this machine. */
let trueMs: number
let brokerMs: number
let wallMs: number
let isAway: boolean
/** The duration of each answer; an hour at most. */
let roundTrips: number[]
let offsets: [number, boolean][]
/** Passes time at all clocks. */
function pass(ms: number): void {
  trueMs += ms
  brokerMs += ms
  wallMs += ms
}

beforeEach(() => {
  trueMs = 1_000
  brokerMs = 1_000_000
  wallMs = 1_005_000
  isAway = false
  roundTrips = []
  offsets = []
})

const newClock = (): BrokerClock =>
  new BrokerClock({
    async ask() {
      if (isAway) throw new Error('away')
      const roundTrip = roundTrips.shift() ?? 2
      pass(roundTrip / 2)
      const time = brokerMs
      pass(roundTrip / 2)
      return time
    },
    onOffset: (offsetMs, isLarge) => offsets.push([offsetMs, isLarge]),
    wall: () => wallMs,
    monotonic: () => trueMs,
  })

test('the clock has the time of the broker, whatever the clock of this machine shows', async () => {
  const clock = newClock()
  await clock.measure()
  pass(60_000)
  expect(clock.now()).toBe(brokerMs)
  wallMs -= 70_000
  expect(clock.now()).toBe(brokerMs)
})

test('the clock is that of this machine until the broker has answered', async () => {
  isAway = true
  const clock = newClock()
  await clock.measure()
  expect(clock.now()).toBe(wallMs)
})

test('the quickest answer counts, and one that took seconds does not', async () => {
  const clock = newClock()
  roundTrips = [900, 10, 600]
  await clock.measure()
  expect(clock.now()).toBe(brokerMs)
  // The answer waited while this process was frozen.
  brokerMs += 3_000
  roundTrips = [8_000, 8_000, 8_000]
  await clock.measure()
  expect(clock.now()).toBe(brokerMs - 3_000)
})

test('a time is over once the broker confirms it', async () => {
  const clock = newClock()
  await clock.measure()
  const time = clock.now() + 1_000
  expect(clock.mayBeOver(time)).toBe(false)
  // The clock of the broker was set back.
  brokerMs -= 5_000
  pass(2_000)
  expect(clock.mayBeOver(time)).toBe(true)
  expect(await clock.isOver(time)).toBe(false)
  pass(5_000)
  expect(await clock.isOver(time)).toBe(true)
})

test('the broker is asked after a suspension of the machine, in which its monotonic clock stopped', async () => {
  const clock = newClock()
  await clock.measure()
  const time = clock.now() + 1_000
  brokerMs += 3_600_000
  wallMs += 3_600_000
  expect(clock.mayBeOver(time)).toBe(true)
  expect(await clock.isOver(time)).toBe(true)
})

test('a large offset is reported at its begin, at a large change and at its end', async () => {
  const clock = newClock()
  const states = []
  for (const wall of [499, 500, 700, 1_000, 1_200, 499, 300, -500]) {
    wallMs = brokerMs + wall
    await clock.measure()
    states.push(clock.state())
  }
  const wrong = 'wrong'
  expect(states).toEqual(['right', wrong, wrong, wrong, wrong, 'right', 'right', wrong])
  expect(offsets).toEqual([
    [500, true],
    [1_000, true],
    [499, false],
    [-500, true],
  ])
})
