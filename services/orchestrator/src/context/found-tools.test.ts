import type { OfferedTool, SessionState, ToolCall, ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { answerFindTools, toolsToOffer } from './found-tools.ts'

const all = ['files__read', 'files__write', 'web__fetch', 'git__merge'].map(
  (safeName): OfferedTool => {
    const [server = '', tool = ''] = safeName.split('__')
    return { safeName, server, tool, description: `Can ${tool}.`, inputSchema: {} }
  },
)

/** A conversation with these calls, each with its answer. */
function after(...calls: [name: string, answer: string][]): Pick<SessionState, 'calls'> {
  return {
    calls: new Map(
      calls.map(([name, message], index) => {
        const isFind = name === 'find_tools'
        const block = isFind ? { name, server: 'result', tool: 'find-tools' } : { name }
        // Only what is looked at.
        return [`c-${index}` as ToolCallId, { block, settled: { message } } as unknown as ToolCall]
      }),
    ),
  }
}

const names = (tools: readonly OfferedTool[]): string[] => tools.map(({ safeName }) => safeName)

test('few tools are offered as they are', () => {
  expect(toolsToOffer(all, after(), 4)).toBe(all)
})

test('of many a model is offered what finds them, at first', () => {
  expect(names(toolsToOffer(all, after(), 3))).toEqual(['find_tools'])
})

test('what was found and what was called can be called, in the order of all', () => {
  const found = answerFindTools(all, { query: 'merge' })
  expect(found).toBe('- git__merge: Can merge.')
  const state = after(
    ['find_tools', found],
    ['files__write', '- web__fetch: this is no list of ours'],
  )
  expect(names(toolsToOffer(all, state, 3))).toEqual(['find_tools', 'files__write', 'git__merge'])
})

test('the latest fifty stay', () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ ...all[0]!, safeName: `t${index}` }))
  const lines = many.map(({ safeName }) => `- ${safeName}: x`).join('\n')
  const offered = names(toolsToOffer(many, after(['find_tools', lines]), 3))
  expect(offered).toHaveLength(51)
  expect(offered.slice(0, 2)).toEqual(['find_tools', 't10'])
})

test('so many are found as are wanted', () => {
  expect(answerFindTools(all, { query: 'can' }).split('\n')).toHaveLength(4)
  expect(answerFindTools(all, { query: 'can', limit: 2 }).split('\n')).toHaveLength(2)
})

test.each([
  [{}, 'query: must'],
  [{ query: ' ' }, 'query: must'],
  [{ query: 'zzzz' }, 'nothing fits "zzzz"'],
])('a model is told what is wrong with %j', (given, said) => {
  expect(answerFindTools(all, given)).toContain(said)
})
