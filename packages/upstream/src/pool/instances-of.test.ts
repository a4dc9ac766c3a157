import { expect, test } from 'vitest'

import { instancesOf } from './instances-of.ts'
import type { RemoteServerConfig } from '../endpoints/remote.ts'
import type { StdioServerConfig } from '../endpoints/stdio.ts'

const stdio: StdioServerConfig = {
  type: 'stdio',
  command: 'node',
  args: ['a'],
  env: { A: '1', B: '1' },
  cwd: '/srv',
  timeoutMs: 7,
}
const http: RemoteServerConfig = {
  type: 'http',
  url: 'http://a',
  headers: { Authorization: 'one', 'X-B': 'b' },
}

test('a server without instances has no instance configurations', () => {
  expect(instancesOf(stdio)).toBeUndefined()
  expect(instancesOf(http)).toBeUndefined()
})

test('a number of instances stands for equal copies of the server', () => {
  const instances = instancesOf({ ...stdio, instances: 3, balance: 'weighted' })
  expect(instances).toEqual(Array.from({ length: 3 }, () => ({ weight: 1, config: stdio })))
})

test('an instance of a stdio server has its own arguments, and merges its variables with those of the server', () => {
  const instances = [{ args: ['b'], weight: 2 }, { env: { B: '2', C: '2' } }]
  expect(instancesOf({ ...stdio, instances })).toEqual([
    { weight: 2, config: { ...stdio, args: ['b'] } },
    { weight: 1, config: { ...stdio, env: { A: '1', B: '2', C: '2' } } },
  ])
})

test('an instance of a remote server merges its headers with those of the server, in any case', () => {
  const instances = [{}, { url: 'http://b', headers: { authorization: 'two' } }]
  expect(instancesOf({ ...http, instances })).toEqual([
    { weight: 1, config: http },
    {
      weight: 1,
      config: { ...http, url: 'http://b', headers: { 'X-B': 'b', authorization: 'two' } },
    },
  ])
})
