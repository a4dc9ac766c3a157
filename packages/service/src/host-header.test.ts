import { expect, test } from 'vitest'
import { isLoopback, readHost } from './host-header.ts'

const isLocal = (header: string): boolean => isLoopback(readHost(header)?.hostname ?? '')

test.each([
  'localhost',
  'LOCALHOST',
  'LocalHost:3000',
  'localhost.',
  'localhost.:3000',
  'App.LocalHost:80',
  '127.0.0.1',
  '127.255.255.254:65535',
  '[::1]',
  '[::1]:3000',
  '[0:0:0:0:0:0:0:1]:3000',
])('the host %s is the loopback interface', (header) => {
  expect(isLocal(header)).toBe(true)
})

test.each([
  '',
  ' ',
  '.',
  '.localhost',
  'evil.com/.localhost',
  'evil.com\\.localhost',
  'evil.com?.localhost',
  'evil.com#.localhost',
  'evil.com@localhost',
  'localhost@evil.com',
  'evil.com:80@localhost',
  'evil.com .localhost',
  'evil.com\t.localhost',
  'evil.com\n.localhost',
  'evil.com,localhost',
  'localhost:3000:3000',
  'localhost:',
  'localhost:x',
  'localhost:999999',
  'localhost..',
  'localhost.evil.com',
  'evillocalhost',
  'ｌocalhost',
  'localhost%00',
  '127.0.0.1.evil.com',
  '0.0.0.0',
  '128.0.0.1',
  '[::2]',
  '[::1',
  '::1]',
  '[::1].localhost',
  '[::ffff:192.168.0.1]',
  `${'a.'.repeat(100_000)}!`,
])('the host %j is not the loopback interface', (header) => {
  expect(isLocal(header)).toBe(false)
})
