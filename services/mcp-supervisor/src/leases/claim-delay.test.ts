import type { CatalogEntry } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { claimDelayMs } from './claim-delay.ts'

const present = (...ids: string[]): CatalogEntry[] =>
  ids.map((id) => ({ kind: 'supervisor', id, startedAt: 0, servers: {} }))
const ids = ['mcp-supervisor-1a', 'mcp-supervisor-1b', 'mcp-supervisor-1c']

test('a supervisor without peers has no claim delay', () => {
  expect(claimDelayMs('server.a', 'us', present('us'))).toBe(0)
  expect(claimDelayMs('server.a', 'us', [])).toBe(0)
})

test('supervisors have different claim delays for a key, one of them none', () => {
  for (let index = 0; index < 50; index++) {
    const delays = ids.map((id) => claimDelayMs(`server.s${index}`, id, present(...ids)))
    expect(delays.toSorted((one, other) => one - other)).toEqual([0, 150, 300])
  }
})

test('keys are spread evenly over supervisors', () => {
  const first = new Map(ids.map((id) => [id, 0]))
  for (let index = 0; index < 300; index++) {
    for (const id of ids) {
      const isFirst = claimDelayMs(`server.s${index}`, id, present(...ids)) === 0
      if (isFirst) first.set(id, (first.get(id) ?? 0) + 1)
    }
  }
  for (const count of first.values()) expect(count).toBeGreaterThan(60)
})

test('a dead supervisor is left out of claim delays', () => {
  for (let index = 0; index < 50; index++) {
    const key = `server.s${index}`
    const [dead = '', ...rest] = ids
    const delays = rest.map((id) => claimDelayMs(key, id, present(...ids), dead))
    expect(delays.toSorted((one, other) => one - other)).toEqual([0, 150])
  }
})

test('a claim delay has a maximum', () => {
  const many = Array.from({ length: 40 }, (_, index) => `mcp-supervisor-${index}`)
  const delays = many.map((id) => claimDelayMs('server.a', id, present(...many)))
  expect(Math.max(...delays)).toBe(450)
})
