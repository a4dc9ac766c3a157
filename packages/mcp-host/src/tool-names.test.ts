import { expect, test } from 'vitest'

import { findNameClashes, joinToolNames } from './tool-names.ts'

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
