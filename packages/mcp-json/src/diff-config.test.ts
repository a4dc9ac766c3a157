import { expect, test } from 'vitest'

import { diffConfig } from './diff-config.ts'
import type { ServerConfig } from '@mcp-host/upstream'

const web = (headers: Record<string, string>): ServerConfig => ({
  type: 'http',
  url: 'http://a',
  headers,
})

test('servers are added, removed, changed or unchanged, whatever the order of their fields', () => {
  const before = { gone: web({}), other: web({ a: '1' }), same: web({ a: '1', b: '2' }) }
  const after = { new: web({}), other: web({ a: '2' }), same: web({ b: '2', a: '1' }) }
  expect(diffConfig({ servers: before }, { servers: after })).toEqual({
    added: ['new'],
    removed: ['gone'],
    changed: ['other'],
    unchanged: ['same'],
  })
})

test('an added field is a change', () => {
  const before = { servers: { web: web({}) } }
  const after = { servers: { web: { ...web({}), timeoutMs: 1 } } }
  expect(diffConfig(before, after)).toMatchObject({ changed: ['web'], unchanged: [] })
})

test('a server with the name of an inherited property is added', () => {
  const after = { servers: { constructor: web({}) } }
  expect(diffConfig({ servers: {} }, after)).toMatchObject({ added: ['constructor'], changed: [] })
})
