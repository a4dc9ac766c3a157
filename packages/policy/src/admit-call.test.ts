import { expect, test } from 'vitest'

import type { CallRules, Verdict } from './admit-call.ts'
import { admitCall, judgeCall } from './admit-call.ts'
import { PolicyFile } from './policy-file.ts'

const rules: CallRules = {
  policy: PolicyFile.parse({
    rules: [
      { tool: 'delete', effect: 'deny', reason: 'nothing is deleted' },
      { tool: 'drop', effect: 'deny' },
      { tool: 'write', effect: 'approve' },
    ],
  }),
  isQuarantined: (_server, tool) => tool === 'changed',
  needsApproval: (_server, tool) => tool === 'send',
}

const callOf = (tool: string) => ({
  principal: { id: 'user:ann', roles: [] },
  server: 'files',
  tool,
  arguments: {},
  annotations: () => undefined,
  inputSchema: () => undefined,
})

test.for<[string, Partial<Verdict>]>([
  ['read', { effect: 'allow' }],
  ['write', { effect: 'approve', index: 2 }],
  ['send', { effect: 'approve', decidedBy: 'tool-approval' }],
  ['delete', { effect: 'deny', reason: 'nothing is deleted' }],
  ['drop', { effect: 'deny', reason: 'the policy of this host does not allow it' }],
  ['changed', { effect: 'deny', decidedBy: 'quarantine' }],
])('the verdict about "%s" names what decided', ([tool, expected]) => {
  expect(judgeCall(rules, callOf(tool))).toMatchObject(expected)
})

test('a call that is denied is not counted, and any other is, once', () => {
  const counted: string[] = []
  const limit = (_principal: unknown, { effect }: Verdict): undefined => void counted.push(effect)
  for (const tool of ['read', 'write', 'send', 'delete', 'changed']) {
    void admitCall(rules, callOf(tool), limit)
  }
  expect(counted).toEqual(['allow', 'approve', 'approve'])
})

test('a call beyond the limit has no verdict', async () => {
  const exhausted = new Error('too many calls')
  await expect(admitCall(rules, callOf('read'), () => Promise.reject(exhausted))).rejects.toBe(
    exhausted,
  )
  expect(await admitCall(rules, callOf('write'), () => Promise.resolve())).toMatchObject({
    effect: 'approve',
  })
})
