import { expect, test } from 'vitest'
import { splitWireName } from './wire-name.ts'

test.each([
  ['filesystem__read_file', 'filesystem', 'read_file'],
  ['my_server__read__file', 'my_server', 'read__file'],
  ['read_file', undefined, 'read_file'],
  ['__read', undefined, '__read'],
])('the wire name %s is of server %s, and its own name is %s', (name, server, own) => {
  expect(splitWireName(name)).toEqual({ server, own })
})
