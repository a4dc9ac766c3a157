import type { CatalogTool, GenerationId } from '@mcp-host/contracts'
import { toolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { approvalRule } from './approval.ts'

const hints: Record<string, CatalogTool['annotations']> = {
  'files.read': { readOnlyHint: true, openWorldHint: false },
  'files.write': { destructiveHint: false, openWorldHint: false },
  'files.delete': { destructiveHint: true },
  'web.get': { readOnlyHint: true },
}

const needs = (rules: readonly string[], name: string): boolean => {
  const [server = '', tool = ''] = name.split('.')
  const id = toolCallId('session-0' as GenerationId, 0)
  const block = { type: 'tool-call' as const, id, name, server, tool, arguments: {} }
  return approvalRule(rules, () => hints[name])(block)
}

test.each([
  ['files.delete', 'files.delete', true],
  ['files.delete', 'files.deleted', false],
  ['files.delete', 'my.files.delete', false],
  ['files.*', 'files.read', true],
  ['files.*', 'filesx.read', false],
  ['*.delete', 'files.delete', true],
  ['files.d*e', 'files.delete', true],
  ['*', 'web.get', true],
  ['files+.x', 'filess.x', false],
  ['@writes', 'files.read', false],
  ['@writes', 'files.write', true],
  ['@writes', 'other.unmarked', true],
  ['@destructive', 'files.write', false],
  ['@destructive', 'files.delete', true],
  ['@destructive', 'other.unmarked', true],
  ['@destructive', 'web.get', false],
  ['@open-world', 'web.get', true],
  ['@open-world', 'files.read', false],
])('the rule %s for %s: %s', (rule, name, expected) => {
  expect(needs([rule], name)).toBe(expected)
  expect(needs(['no.such', rule], name)).toBe(expected)
})

test('without rules nothing needs permission', () => {
  expect(needs([], 'files.delete')).toBe(false)
})

test('a call of a tool that does not exist is not asked about', () => {
  const id = toolCallId('session-0' as GenerationId, 0)
  const block = { type: 'tool-call' as const, id, name: 'imagined', arguments: {} }
  expect(approvalRule(['*'], () => undefined)(block)).toBe(false)
})
