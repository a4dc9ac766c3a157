import { expect, test } from 'vitest'
import { ServerName } from '../ids.ts'
import type { CatalogEntry, CatalogTool } from '../mcp-server/catalog-entry.ts'
import { approvalFinder, approvalRule, unmatchedPatterns } from './approval-rule.ts'

const hints: Record<string, CatalogTool['annotations']> = {
  'files.read': { readOnlyHint: true, openWorldHint: false },
  'files.write': { destructiveHint: false, openWorldHint: false },
  'files.delete': { destructiveHint: true },
  'web.get': { readOnlyHint: true },
}

const needs = (rules: readonly string[], name: string): boolean => {
  const [server = '', tool = ''] = name.split('.')
  return approvalRule(rules)(server, tool, () => hints[name])
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
  ['files.caf\u00e9', 'files.cafe\u0301', true],
  ['files.delete', 'files.de\u200blete', true],
  ['files.cafe\u0301*', 'files.caf\u00e9_order', true],
  ['@writes', 'files.read', false],
  ['@writes', 'files.write', true],
  ['@writes', 'other.unmarked', true],
  ['@destructive', 'files.write', false],
  ['@destructive', 'files.delete', true],
  ['@destructive', 'other.unmarked', true],
  ['@destructive', 'web.get', false],
  ['@open-world', 'web.get', true],
  ['@open-world', 'files.read', false],
])('the rule %s requires an approval of %s: %s', (rule, name, expected) => {
  expect(needs([rule], name)).toBe(expected)
  expect(needs(['no.such', rule], name)).toBe(expected)
})

test.each([
  'delete\nall',
  '\n',
  'a\r\nb',
  'a\u2028b',
  '\u0000',
  '\u001b[2K',
  '\ud800',
  '.',
  '*',
  '$&',
  '',
])('a wildcard matches every character of the tool %j', (tool) => {
  const allows = (rule: string): boolean => approvalRule([rule])('h', tool, () => undefined)
  expect(['h.*', '*', `h.${tool}`, `*${tool}`].map(allows)).toEqual([true, true, true, true])
  expect(allows('g.*')).toBe(false)
})

test.each([
  [['@writes', 'web.*', 'files.d*'], 'files.delete', 'files.d*'],
  [['@open-world', '@writes', 'web.*'], 'files.write', '@writes'],
  [['@writes', 'web.*'], 'files.read', undefined],
])('of the rules %j, %s is selected by %s', (rules, name, rule) => {
  const [server = '', tool = ''] = name.split('.')
  expect(approvalFinder(rules)(server, tool, () => hints[name])).toBe(rule)
})

test('no tool needs an approval without rules', () => {
  expect(needs([], 'files.delete')).toBe(false)
})

const server = (name: string, ...tools: string[]): CatalogEntry => ({
  kind: 'server',
  server: ServerName.parse(name),
  supervisor: 's',
  state: tools.length === 0 ? 'starting' : 'ready',
  tools: tools.map((tool) => ({ name: tool, inputSchema: {} })),
})
const supervisor = (...configured: string[]): CatalogEntry => ({
  kind: 'supervisor',
  id: 's',
  startedAt: 0,
  servers: {},
  configured,
})
const ready = [server('files', 'read', 'delete_all'), server('web', 'get')]

test.each<[string[], string[]]>([
  [['files.delete_*', 'web.*', '*', '@writes'], []],
  [
    ['files.remove_*', 'fils.*', 'web.get'],
    ['files.remove_*', 'fils.*'],
  ],
])('of the rules %j those that match no tool are %j', (rules, unmatched) => {
  expect(unmatchedPatterns(rules, [supervisor('files', 'web'), ...ready])).toEqual(unmatched)
})

test.each<[string, boolean]>([
  ['mail.*', false],
  ['m*.send', false],
  ['files.remove_*', true],
])('while the server mail is not ready, %s counts as unmatched: %s', (rule, isUnmatched) => {
  const present = supervisor('files', 'web', 'mail')
  const expected = isUnmatched ? [rule] : []
  expect(unmatchedPatterns([rule], [present, ...ready])).toEqual(expected)
  expect(unmatchedPatterns([rule], [present, ...ready, server('mail')])).toEqual(expected)
})

test('no rule counts as unmatched while no supervisor is present', () => {
  expect(unmatchedPatterns(['fils.*'], ready)).toEqual([])
})
