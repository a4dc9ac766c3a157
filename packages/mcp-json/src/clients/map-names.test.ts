import { describe, expect, test } from 'vitest'

import { FaultList } from '../document/fault-list.ts'
import { mapNames } from './map-names.ts'

function map(names: readonly string[], reserved: readonly string[] = []): Record<string, string> {
  const entries = names.map((name) => {
    return { name, nameOffset: 0, namePath: name, isBuiltIn: false }
  })
  const mapped = mapNames(
    entries,
    reserved,
    new FaultList('', { hasLines: false, isStrict: false }),
  )
  return Object.fromEntries(names.map((name, index) => [name, mapped[index] ?? '']))
}

describe('the names of servers', () => {
  test.each([
    ['GitHub MCP', 'GitHub-MCP'],
    ['@scope/files.v2', 'scope-files-v2'],
    ['a_b-c', 'a_b-c'],
    [' spaces ', 'spaces'],
  ])('the server %j is called %j', (name, mapped) => {
    expect(map([name])).toEqual({ [name]: mapped })
  })

  test.each([
    ['天气', /^server-\w{6}$/],
    ['Café', /^Cafe-\w{6}$/],
    ['погода 2', /^2-\w{6}$/],
    ['🌍', /^server-\w{6}$/],
    ['__proto__', /^server-\w{6}$/],
    ['x'.repeat(80), /^x{57}-\w{6}$/],
  ])('the server %j gets a name that stays the same', (name, mapped) => {
    expect(map([name])[name]).toMatch(mapped)
    expect(map(['other', name, '地图'])[name]).toBe(map([name])[name])
  })

  test('names do not depend on the order of the entries', () => {
    const names = ['天气', '地图', 'a b', 'a.b', 'a-b', '🌍', '🌎', 'Café', 'Cafe', 'tools!']
    const reserved = ['tools']
    const mapped = map(names, reserved)
    expect(map(names.toReversed(), reserved)).toEqual(mapped)
    expect(new Set([...Object.values(mapped), ...reserved]).size).toBe(names.length + 1)
    expect(mapped).toMatchObject({ 'a-b': 'a-b', Cafe: 'Cafe' })
  })
})
