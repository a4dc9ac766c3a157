import { expect, test } from 'vitest'
import { isInternal } from './public-address.ts'

test.each([
  ['8.8.8.8', false],
  ['2606:4700::1111', false],
  ['172.15.0.1', false],
  ['172.31.255.255', true],
  ['192.168.1.1', true],
  ['100.64.0.1', true],
  ['fe80::1', true],
  ['fd00::1', true],
  ['fec0::1', true],
  ['3fff::1', true],
  ['::ffff:192.168.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', true],
  ['::ffff:0:a00:1', true],
  ['168.63.129.16', true],
  ['168.63.129.17', false],
])('that %s is internal is %s', (address, expected) => {
  expect(isInternal(address)).toBe(expected)
})
