import type { OfferedTool, ToolCallId } from '@mcp-host/contracts'
import type { SessionState, ToolCall } from '@mcp-host/session-state'
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

/** A conversation with these answered calls. */
function after(...calls: [name: string, answer: string][]): Pick<SessionState, 'calls'> {
  return {
    calls: new Map(
      calls.map(([name, message], index) => {
        const isFind = name === 'find_tools'
        const block = isFind ? { name, server: 'result', tool: 'find-tools' } : { name }
        // Only the fields that toolsToOffer reads.
        return [`c-${index}` as ToolCallId, { block, settled: { message } } as unknown as ToolCall]
      }),
    ),
  }
}

const names = (tools: readonly OfferedTool[]): string[] => tools.map(({ safeName }) => safeName)

const room = (maxTools: number, maxTokens = 10_000) => ({ maxTools, maxTokens })

test('tools within the limits are offered unchanged', () => {
  expect(toolsToOffer(all, after(), room(4))).toBe(all)
})

test('tools beyond the limits are replaced by a search', () => {
  expect(names(toolsToOffer(all, after(), room(3)))).toEqual(['find_tools'])
})

test('found and called tools are offered in the order of all tools', () => {
  const found = answerFindTools(searchable, { query: 'merge' })
  expect(found).toBe('- git__merge: Can merge.')
  const state = after(
    ['find_tools', found],
    ['files__write', '- web__fetch: not the answer of a search'],
  )
  expect(names(toolsToOffer(all, state, room(3)))).toEqual([
    'find_tools',
    'files__write',
    'git__merge',
  ])
})

test('the latest fifty called tools are offered', () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ ...all[0]!, safeName: `t${index}` }))
  const calls = many.map(({ safeName }): [string, string] => [safeName, ''])
  const offered = names(toolsToOffer(many, after(...calls), room(3)))
  expect(offered).toHaveLength(51)
  expect(offered.slice(0, 2)).toEqual(['find_tools', 't10'])
})

/** A tool with about 300 tokens. */
const wordy = (safeName: string): OfferedTool => ({
  ...all[0]!,
  safeName,
  description: 'word '.repeat(100),
  inputSchema: {
    properties: { description: { type: 'string', description: 'text '.repeat(200) } },
  },
})

test('tools whose definitions are too large are replaced by a search', () => {
  const some = ['a', 'b', 'c'].map(wordy)
  expect(names(toolsToOffer(some, after(), room(100, 1_000)))).toEqual(['a', 'b', 'c'])
  expect(names(toolsToOffer(some, after(), room(100, 900)))).toEqual(['find_tools'])
})

test('the best found tools of the latest search are offered when not all fit', () => {
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

test('no tools are offered when the search does not fit', () => {
  expect(toolsToOffer([wordy('a')], after(['a', '']), room(100, 50))).toEqual([])
})

test('a search returns at most as many tools as its limit', () => {
  expect(answerFindTools(searchable, { query: 'can' }).split('\n')).toHaveLength(4)
  expect(answerFindTools(searchable, { query: 'can', limit: 2 }).split('\n')).toHaveLength(2)
})

test.each([
  [{}, 'query: must'],
  [{ query: ' ' }, 'query: must'],
  [{ query: 'x'.repeat(1_001) }, 'query: must have at most 1000 characters'],
  [{ query: 'zzzz' }, 'nothing fits "zzzz"'],
])('the search arguments %j are answered with a reason', (args, reason) => {
  expect(answerFindTools(searchable, args)).toContain(reason)
})
