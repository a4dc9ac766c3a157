import { describe, expect, test } from 'vitest'
import type { SessionId } from './ids.ts'
import {
  generationFence,
  generationId,
  newSessionId,
  SessionId as Schema,
  SHARDS,
  shardOf,
  toolCallId,
} from './ids.ts'

describe('the shard of a session', () => {
  // These values must not change: a log stays on the subject that it was written to.
  test.each<[string, string]>([
    ['0123456789abcdef', '61'],
    ['aaaaaaaaaaaaaaaa', '21'],
    ['session-with_both-kinds', '38'],
    ['00000000000000000000000000000000', '5'],
    ['6f1d3c0e8a7b4c2d9e5f0a1b2c3d4e5f', '33'],
    ['Z'.repeat(64), '5'],
  ])('the shard of %s is fixed', (session, shard) => {
    expect(shardOf(Schema.parse(session))).toBe(shard)
  })

  test('shards are evenly distributed', () => {
    const counts = new Map<string, number>()
    for (let index = 0; index < 6_400; index++) {
      const shard = shardOf(`session-number-${index}` as SessionId)
      counts.set(shard, (counts.get(shard) ?? 0) + 1)
    }
    expect(counts.size).toBe(SHARDS)
    expect(Math.min(...counts.values())).toBeGreaterThan(50)
    expect(Math.max(...counts.values())).toBeLessThan(200)
  })
})

describe('a session id', () => {
  test('a generated session id is valid and unique', () => {
    const ids = Array.from({ length: 1_000 }, newSessionId)
    expect(new Set(ids).size).toBe(1_000)
    for (const id of ids) expect(Schema.parse(id)).toBe(id)
  })

  test.each([
    ['is too short to be unguessable', 'a'.repeat(15)],
    ['is too long', 'a'.repeat(65)],
    ['has a dot', 'a.234567890123456'],
    ['has a wildcard', '*234567890123456'],
    ['ends in a line break', '1234567890123456\n'],
  ])('a session id is refused when it %s', (_, id) => {
    expect(Schema.safeParse(id).success).toBe(false)
  })
})

test('the fence of a generation id is found, even if the session id has dashes', () => {
  const session = Schema.parse('a-session-12-34567')
  expect(generationFence(generationId(session, 890))).toBe(890)
  expect(generationId(session, 890)).not.toBe(generationId(session, 891))
})

test('the tool calls of a generation differ by their index', () => {
  const generation = generationId(Schema.parse('0123456789abcdef'), 7)
  expect(toolCallId(generation, 0)).toBe('0123456789abcdef-7-0')
  expect(toolCallId(generation, 1)).not.toBe(toolCallId(generation, 0))
})
