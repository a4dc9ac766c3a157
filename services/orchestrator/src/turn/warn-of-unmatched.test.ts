import type { CatalogEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { warnOfUnmatched } from './warn-of-unmatched.ts'

test('a rule that matches no tool is warned of once, when all servers are known', () => {
  const entries = new Map<string, CatalogEntry>()
  const supervisor = { kind: 'supervisor', id: 's', startedAt: 0, servers: {} } as const
  entries.set('supervisor', { ...supervisor, configured: ['files'] })
  let change = (): void => undefined
  const catalog = {
    entries,
    onChange: (listener: () => void) => {
      change = listener
      return { [Symbol.dispose]: () => undefined }
    },
  }
  const warned: unknown[] = []
  const logger = { warn: (fields: object, message: string) => void warned.push([fields, message]) }
  warnOfUnmatched({ catalog, logger: logger as never }, ['files.remove', 'files.read', '@writes'])
  change()
  expect(warned).toEqual([])
  entries.set('files', {
    kind: 'server',
    server: ServerName.parse('files'),
    supervisor: 's',
    state: 'ready',
    tools: [{ name: 'read', inputSchema: {} }],
  })
  change()
  change()
  expect(warned).toEqual([
    [
      { component: 'approval', action: 'check', rule: 'files.remove' },
      'TOOL_APPROVAL: files.remove matches no tool, so it protects nothing',
    ],
  ])
})
