import type { OfferedTool, SessionState, ToolCall, ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { toolTokens } from './estimate-tokens.ts'
import { answerFindTools, toolsToOffer } from './found-tools.ts'
import { indexTools } from '../tools/offered-tools.ts'

const all = ['files__read', 'files__write', 'web__fetch', 'git__merge'].map(
  (safeName): OfferedTool => {
    const [server = '', tool = ''] = safeName.split('__')
    return { safeName, server, tool, description: `Can ${tool}.`, inputSchema: {} }
  },
)

const searchable = indexTools(all)

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

const room = (maxTools: number, maxTokens = 10_000) => ({ maxTools, maxTokens })

test('few tools are offered as they are', () => {
  expect(toolsToOffer(all, after(), room(4))).toBe(all)
})

test('of many a model is offered what finds them, at first', () => {
  expect(names(toolsToOffer(all, after(), room(3)))).toEqual(['find_tools'])
})

test('what was found and what was called can be called, in the order of all', () => {
  const found = answerFindTools(searchable, { query: 'merge' })
  expect(found).toBe('- git__merge: Can merge.')
  const state = after(
    ['find_tools', found],
    ['files__write', '- web__fetch: this is no list of ours'],
  )
  expect(names(toolsToOffer(all, state, room(3)))).toEqual([
    'find_tools',
    'files__write',
    'git__merge',
  ])
})

test('the latest fifty stay', () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ ...all[0]!, safeName: `t${index}` }))
  const calls = many.map(({ safeName }): [string, string] => [safeName, ''])
  const offered = names(toolsToOffer(many, after(...calls), room(3)))
  expect(offered).toHaveLength(51)
  expect(offered.slice(0, 2)).toEqual(['find_tools', 't10'])
})

/** Takes some 300 tokens. */
const wordy = (safeName: string): OfferedTool => ({
  ...all[0]!,
  safeName,
  description: 'word '.repeat(100),
  inputSchema: {
    properties: { description: { type: 'string', description: 'text '.repeat(200) } },
  },
})

test('few tools whose definitions are too large are searched, too', () => {
  const some = ['a', 'b', 'c'].map(wordy)
  expect(names(toolsToOffer(some, after(), room(100, 1_000)))).toEqual(['a', 'b', 'c'])
  expect(names(toolsToOffer(some, after(), room(100, 900)))).toEqual(['find_tools'])
})

test('of found tools that do not all fit the best of the latest search are offered', () => {
  const some = ['a', 'b', 'c', 'd'].map(wordy)
  const state = after(['a', ''], ['find_tools', '- c: x\n- b: x\n- d: x'])
  const offered = toolsToOffer(some, state, room(100, 850))
  expect(names(offered)).toEqual(['find_tools', 'b', 'c'])
})

test('a found tool that does not fit is offered with shortened descriptions', () => {
  const offered = toolsToOffer([wordy('a')], after(['a', '']), room(100, 270))
  expect(names(offered)).toEqual(['find_tools', 'a'])
  expect(offered.reduce((sum, tool) => sum + toolTokens(tool), 0)).toBeLessThanOrEqual(270)
  expect(offered[1]).toMatchObject({
    description: expect.stringMatching(/^word .{74}…$/),
    inputSchema: {
      properties: { description: { type: 'string', description: expect.stringMatching(/…$/) } },
    },
  })
})

test('no tool is offered where not even the search fits', () => {
  expect(toolsToOffer([wordy('a')], after(['a', '']), room(100, 50))).toEqual([])
})

test('so many are found as are wanted', () => {
  expect(answerFindTools(searchable, { query: 'can' }).split('\n')).toHaveLength(4)
  expect(answerFindTools(searchable, { query: 'can', limit: 2 }).split('\n')).toHaveLength(2)
})

test.each([
  [{}, 'query: must'],
  [{ query: ' ' }, 'query: must'],
  [{ query: 'x'.repeat(1_001) }, 'query: must have at most 1000 characters'],
  [{ query: 'zzzz' }, 'nothing fits "zzzz"'],
])('a model is told what is wrong with %j', (given, said) => {
  expect(answerFindTools(searchable, given)).toContain(said)
})
