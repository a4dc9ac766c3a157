import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OfferedTool, ToolCallBlock } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { eventually, testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { followTurnPolicy } from './turn-policy.ts'

const quiet = () => undefined
// Only what the policy logs.
const logger = { info: quiet, warn: quiet, error: quiet } as unknown as Logger
const bus = { id: 'o1', catalog: { put: async () => undefined, remove: async () => undefined } }
const tools = {
  definitionOf: (_server: string, name: string) => ({
    name,
    inputSchema: {
      properties: { force: { type: 'boolean' }, tags: { items: { type: 'string' } } },
    },
    annotations: { readOnlyHint: false },
  }),
}
const ann = newEnvelope({ id: 'user:ann', roles: ['user'], scopes: [] })
const root = newEnvelope({ id: 'user:root', roles: ['admin'], scopes: [] })
/** A message from before roles travelled with messages. */
const older = newEnvelope('local')

const call = (tool: string, args: object = {}) =>
  ({
    type: 'tool-call',
    id: 'x',
    name: tool,
    server: 'files',
    tool,
    arguments: args,
  }) as unknown as ToolCallBlock // ids are not read
const offered = (tool: string) =>
  ({ server: 'files', tool, safeName: tool, inputSchema: {} }) as unknown as OfferedTool // the rest is not read

test('the policy decides calls of a turn, and again when its file changes', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'policy.json')
  const write = (rules: object[]) => writeFile(path, JSON.stringify({ rules }))
  await write([
    { roles: 'admin', effect: 'allow' },
    { tool: 'delete', effect: 'deny', reason: 'nothing is deleted here' },
    { tool: 'wipe', arguments: { force: 'true' }, effect: 'deny' },
    { tool: 'label', arguments: { tags: 'x' }, effect: 'deny', reason: 'no' },
  ])
  const needsApproval = (_server: string, tool: string): boolean => tool === 'write'
  await using policy = followTurnPolicy(path, {
    tools,
    bus,
    logger,
    needsApproval,
    pins: { isQuarantined: (_server, tool) => tool === 'changed', setMode: () => undefined },
    permit: (principal, { rule }) => {
      if (rule?.limit !== undefined) throw new BusError('exhausted', `too many of ${principal}`)
      return undefined
    },
  })
  expect(policy.effectOf(ann, call('delete'))).toBe('deny')
  expect(policy.isHidden(ann, offered('delete'))).toBe(true)
  expect(policy.effectOf(root, call('delete'))).toBe('allow')
  expect(policy.effectOf(older, call('delete'))).toBe('allow')
  expect(policy.effectOf(ann, call('write'))).toBe('approve')
  expect(policy.effectOf(ann, call('read'))).toBe('allow')
  expect(policy.effectOf(root, call('changed'))).toBe('deny')
  expect(policy.isHidden(root, offered('changed'))).toBe(true)
  expect(policy.denialOf(ann, call('delete'))).toBe('nothing is deleted here')
  expect(policy.denialOf(root, call('changed'))).toContain('no admin has accepted it')
  expect(policy.denialOf(ann, call('write'))).toBeUndefined()
  for (const force of [true, 'TRUE', ' true ', 1])
    expect(policy.effectOf(ann, call('wipe', { force }))).toBe('deny')
  expect(policy.effectOf(ann, call('wipe', { force: 0 }))).toBe('allow')
  const tags = Array.from({ length: 400_000 }, () => 1)
  expect(policy.denialOf(ann, call('label', { tags }))).toContain('too large')
  await write([{ tool: 'read', effect: 'approve' }])
  await eventually(() => policy.effectOf(ann, call('read')) === 'approve')
  expect(await policy.refusalOf(ann, call('read'))).toBeUndefined()
  expect(policy.effectOf(ann, call('delete'))).toBe('allow')
  await write([{ tool: 'write', effect: 'allow', limit: '1/m' }])
  await eventually(
    async () => (await policy.refusalOf(ann, call('write'))) === 'too many of user:ann',
  )
})
