import { HOSTILE_KINDS } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import type { FaultKind, FaultPlan } from './faults.ts'
import { FAULT_KINDS, planFaults, TARGETS } from './faults.ts'

const processKinds: readonly FaultKind[] = ['kill', 'term', 'stop']
const plan: FaultPlan = { seed: 7, targets: TARGETS, kinds: processKinds, replicas: () => 2 }

test('the same seed plans the same faults, another seed others', () => {
  const first = planFaults(plan).take(50).toArray()
  expect(planFaults(plan).take(50).toArray()).toEqual(first)
  expect(
    planFaults({ ...plan, seed: 8 })
      .take(50)
      .toArray(),
  ).not.toEqual(first)
})

test('every kind is in each three faults, and strikes every target equally often', () => {
  const faults = planFaults(plan).take(45).toArray()
  for (let index = 0; index < faults.length; index += 3) {
    const kinds = faults.slice(index, index + 3).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(processKinds.toSorted())
  }
  const counts = Object.groupBy(faults, ({ kind, target }) => `${kind} ${target}`)
  expect(Object.values(counts).map((each) => each?.length)).toEqual(
    Array.from({ length: 15 }, () => 3),
  )
})

test('faults strike existing processes, which SIGSTOP freezes for 8 s', () => {
  const replicas = (target: string): number => (target === 'nats' ? 3 : 2)
  const faults = planFaults({ ...plan, replicas })
    .take(200)
    .toArray()
  const seen = new Set(faults.map(({ target, replica }) => `${target}-${replica}`))
  expect(seen.size).toBe(4 * 2 + 3)
  for (const { kind, downMs } of faults) expect(downMs === 8_000).toBe(kind === 'stop')
})

test('a full disk always strikes nats-server', () => {
  for (const fault of planFaults({ ...plan, kinds: ['disk-full'] }).take(20)) {
    expect(fault).toMatchObject({ kind: 'disk-full', target: 'nats', downMs: 6_000 })
  }
})

test('every kind of damage strikes nats-server, after a pause in which turns end', () => {
  const faults = planFaults({ ...plan, kinds: ['corrupt'] })
    .take(6)
    .toArray()
  for (const fault of faults) expect(fault).toMatchObject({ target: 'nats', pauseBeforeMs: 8_000 })
  const kinds = faults.map((fault) => (fault.kind === 'corrupt' ? fault.damage.how : fault.kind))
  expect(kinds.toSorted()).toEqual(
    ['truncate', 'overwrite', 'delete'].flatMap((how) => [how, how]).toSorted(),
  )
})

test('only the chosen kinds and targets are planned', () => {
  const faults = planFaults({ ...plan, kinds: ['term'], targets: ['gateway', 'nats'] })
  for (const { kind, target } of faults.take(20)) {
    expect(kind).toBe('term')
    expect(['gateway', 'nats']).toContain(target)
  }
})

test('hostile servers of every kind strike the supervisors, whatever the targets are', () => {
  const all = { ...plan, kinds: FAULT_KINDS, targets: ['nats'] as const }
  const faults = planFaults(all)
    .take(FAULT_KINDS.length * HOSTILE_KINDS.length)
    .filter((fault) => fault.kind === 'hostile-server')
    .toArray()
  expect(new Set(faults.map(({ target }) => target))).toEqual(new Set(['mcp-supervisor']))
  expect(faults.map(({ server }) => server).toSorted()).toEqual(HOSTILE_KINDS.toSorted())
})

test('the clock of every service is moved by every offset, ahead and behind, whatever the targets are', () => {
  const faults = planFaults({ ...plan, kinds: ['clock'], targets: ['nats'] })
    .take(24)
    .filter((fault) => fault.kind === 'clock')
    .toArray()
  expect(
    Object.values(Object.groupBy(faults, ({ target }) => target)).map((each) => each?.length),
  ).toEqual([6, 6, 6, 6])
  const offsets = Object.groupBy(faults, ({ offsetMs }) => offsetMs)
  expect(
    Object.keys(offsets)
      .map(Number)
      .toSorted((a, b) => a - b),
  ).toEqual([-60_000, -5_000, -1_000, 1_000, 5_000, 60_000])
})
