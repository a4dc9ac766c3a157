import type { CatalogEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { warnOfUnmatched } from './warn-of-unmatched.ts'

test('a rule that matches no tool is logged once, when all servers are known', () => {
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
  const warnings: unknown[] = []
  const logger = {
    warn: (fields: object, message: string) => void warnings.push([fields, message]),
  }
  // warnOfUnmatched logs with this method only.
  warnOfUnmatched({ catalog, logger: logger as never }, ['files.remove', 'files.read', '@writes'])
  change()
  expect(warnings).toEqual([])
  entries.set('files', {
    kind: 'server',
    server: ServerName.parse('files'),
    supervisor: 's',
    state: 'ready',
    tools: [{ name: 'read', inputSchema: {} }],
  })
  change()
  change()
  expect(warnings).toEqual([
    [
      { component: 'approval', action: 'check', rule: 'files.remove' },
      'TOOL_APPROVAL: files.remove matches no tool, so it protects nothing',
    ],
  ])
})
