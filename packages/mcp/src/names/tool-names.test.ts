import { expect, test } from 'vitest'

import { findNameClashes, joinToolNames, safeToolNames } from './tool-names.ts'

test.each<[string[], object[]]>([
  [['a', 'b', 'ab', 'a_b'], []],
  [['a__b', 'a'], [{ server: 'a__b', other: 'a' }]],
  // Both could have "a___x".
  [['a', 'a_'], [{ server: 'a_', other: 'a' }]],
])('servers %j with clashing names are found: %j', (servers, clashes) => {
  expect(findNameClashes(servers)).toEqual(clashes)
})

test('joined names are plain, and end in a hash where they could be names of another server', () => {
  const join = joinToolNames(['a', 'a__b', 'other'])
  const names = [
    join({ server: 'a', tool: 'b__c' }),
    join({ server: 'a__b', tool: 'c' }),
    join({ server: 'other', tool: 'c' }),
  ]
  expect(names).toEqual(['a__b__c', expect.stringMatching(/^a__b__c_[a-z0-9]{6}$/), 'other__c'])
  expect(joinToolNames(['a__b'])({ server: 'a__b', tool: 'c' })).toBe('a__b__c')
})

test('no server can give a tool the joined name of a tool of another server', () => {
  const join = joinToolNames(['a', 'a__b'])
  const name = join({ server: 'a__b', tool: 'c' })
  const tool = name.slice('a__'.length)
  expect(join({ server: 'a', tool })).toMatch(/^a__b__c_[a-z0-9]{6}_[a-z0-9]{6}$/)
  expect(joinToolNames(['a', 'b'])({ server: 'a', tool })).toBe(name)
})

test('names for models fit every provider, and do not depend on the order of the tools', () => {
  const tools = [
    { server: 'a', tool: 'b__c' },
    { server: 'a__b', tool: 'c' },
    { server: 's', tool: '查询天气' },
    { server: 's', tool: '查询地图' },
    { server: 's', tool: 'user/update' },
    { server: 's', tool: 'user.update' },
    { server: 's', tool: 'x'.repeat(80) },
    { server: 's', tool: 'plain' },
  ]
  const named = safeToolNames(tools)
  expect(named.size).toBe(tools.length)
  for (const name of named.keys()) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  expect(named.get('s__plain')).toBe(tools.at(-1))
  expect(safeToolNames(tools.toReversed())).toEqual(named)
})
