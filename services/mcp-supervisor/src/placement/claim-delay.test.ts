import type { CatalogEntry } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { claimDelayMs } from './claim-delay.ts'

const present = (...ids: string[]): CatalogEntry[] =>
  ids.map((id) => ({ kind: 'supervisor', id, startedAt: 0, servers: {} }))
const ids = ['mcp-supervisor-1a', 'mcp-supervisor-1b', 'mcp-supervisor-1c']

test('who is alone does not wait', () => {
  expect(claimDelayMs('server.a', 'us', present('us'))).toBe(0)
  expect(claimDelayMs('server.a', 'us', [])).toBe(0)
})

test('for each key one goes first, and all wait differently', () => {
  for (let index = 0; index < 50; index++) {
    const turns = ids.map((id) => claimDelayMs(`server.s${index}`, id, present(...ids)))
    expect(turns.toSorted((one, other) => one - other)).toEqual([0, 150, 300])
  }
})

test('many keys are spread evenly', () => {
  const first = new Map(ids.map((id) => [id, 0]))
  for (let index = 0; index < 300; index++) {
    for (const id of ids) {
      const isFirst = claimDelayMs(`server.s${index}`, id, present(...ids)) === 0
      if (isFirst) first.set(id, (first.get(id) ?? 0) + 1)
    }
  }
  for (const count of first.values()) expect(count).toBeGreaterThan(60)
})

test('nobody waits for the one that has just died', () => {
  for (let index = 0; index < 50; index++) {
    const key = `server.s${index}`
    const [dead = '', ...rest] = ids
    const turns = rest.map((id) => claimDelayMs(key, id, present(...ids), dead))
    expect(turns.toSorted((one, other) => one - other)).toEqual([0, 150])
  }
})

test('however many there are nobody waits for long', () => {
  const many = Array.from({ length: 40 }, (_, index) => `mcp-supervisor-${index}`)
  const turns = many.map((id) => claimDelayMs('server.a', id, present(...many)))
  expect(Math.max(...turns)).toBe(450)
})
