import { expect, test } from 'vitest'

import { NameTable } from './name-table.ts'

test('a name with dots is found', () => {
  const names = new NameTable()
  names.update('a', ['b.c', 'b'])
  expect(names.find('a.b.c')).toEqual({ server: 'a', name: 'b.c' })
  expect(names.find('a.b')).toEqual({ server: 'a', name: 'b' })
  expect(names.find('a')).toBeUndefined()
})

test('names of a server replace its earlier names and no others', () => {
  const names = new NameTable()
  names.update('a', ['x', 'y'])
  names.update('b', ['x'])
  names.update('a', ['z'])
  expect(names.find('a.x')).toBeUndefined()
  expect(names.find('a.z')).toEqual({ server: 'a', name: 'z' })
  expect(names.find('b.x')).toEqual({ server: 'b', name: 'x' })
})
