import type { HistoryMessage } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { bytesOf, fitTurn } from './fit-turn.ts'

const metadata = { messageId: 'a', reasoning: 'r'.repeat(20_000) }
const large = 'x'.repeat(50_000)
const content = [{ type: 'text', text: large }]

const messages: readonly HistoryMessage[] = [
  { id: 'a', role: 'user', createdAt: 1, content: 'u'.repeat(10_000), metadata },
  {
    id: 'b',
    role: 'tool',
    createdAt: 2,
    toolName: 'files.read',
    data: { arguments: large, outcome: 'ok', content, structuredContent: { large } },
    metadata: { messageId: 'a' },
  },
]

test('a turn that fits is not changed', () => {
  expect(fitTurn(messages, bytesOf(messages))).toEqual(messages)
})

test('a turn that is too large loses its tool results first, with a note', () => {
  const [user, tool] = fitTurn(messages, 100_000)
  expect(user).toEqual(messages[0])
  expect(tool?.data).toMatchObject({ arguments: large, outcome: 'ok' })
  expect(tool?.data?.structuredContent).toBeUndefined()
  expect(tool?.data?.content).toEqual([
    { type: 'text', text: expect.stringContaining('too large') },
  ])
})

test('a turn that is still too large loses arguments, then reasoning, then text', () => {
  const [user, tool] = fitTurn(messages, 15_000)
  expect(user).toEqual({ ...messages[0], metadata: { messageId: 'a' } })
  expect(tool?.data?.arguments).toContain('too large')
  const [cut] = fitTurn(messages, 5_000)
  expect(cut?.content).toMatch(/^u{2000}\n… .*too large/)
})

test.each([100_000, 15_000, 5_000])('a shortened turn has at most %d bytes', (maxBytes) => {
  expect(bytesOf(fitTurn(messages, maxBytes))).toBeLessThanOrEqual(maxBytes)
})

test('a turn with more messages than fit keeps only the first one', () => {
  const many = [messages[0]!, ...Array.from({ length: 9 }, () => messages[1]!)]
  const fitting = fitTurn(many, 3_000)
  expect(fitting).toMatchObject([{ id: 'a' }, { role: 'system', metadata: { messageId: 'a' } }])
  expect(bytesOf(fitting)).toBeLessThanOrEqual(3_000)
})
