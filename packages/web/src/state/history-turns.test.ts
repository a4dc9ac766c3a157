import type { Message } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { historyTurns } from './history-turns.ts'

test('a turn has reasoning, texts, notes and calls in their order; a call without an end is unknown', () => {
  const metadata = { messageId: 'm1' }
  const call = { role: 'tool', createdAt: 8, metadata } as const
  const messages: Message[] = [
    { id: 'm1', role: 'user', createdAt: 7, content: 'hi', metadata },
    { id: 's1', role: 'system', createdAt: 7, content: 'B answers instead of A', metadata },
    {
      id: 'a1',
      role: 'assistant',
      createdAt: 8,
      content: 'I look',
      metadata: { ...metadata, reasoning: 'Where is it?' },
    },
    { ...call, id: 'c1', toolName: 'files.read.all', data: { arguments: { path: '/' } } },
    { ...call, id: 'c2', toolName: 'find', data: { arguments: {}, outcome: 'ok', content: [] } },
  ]
  expect(historyTurns(messages).map(({ items }) => items)).toEqual([
    [
      { kind: 'note', id: 's1', text: 'B answers instead of A' },
      { kind: 'reasoning', id: 'a1-r', text: 'Where is it?' },
      { kind: 'text', id: 'a1', text: 'I look' },
      {
        kind: 'tool',
        id: 'c1',
        server: 'files',
        tool: 'read.all',
        arguments: { path: '/' },
        result: { outcome: 'unknown', content: [] },
      },
      {
        kind: 'tool',
        id: 'c2',
        server: undefined,
        tool: 'find',
        arguments: {},
        result: { outcome: 'ok', content: [] },
      },
    ],
  ])
})

test('a turn has the usage of all of its generations, under the name of the last model', () => {
  const turnUsage = [
    { provider: 'p', model: 'small', generations: 2, inputTokens: 1, outputTokens: 2, cost: 0.5 },
    { provider: 'p', model: 'large', generations: 1, inputTokens: 10, outputTokens: 20 },
  ]
  const messages: Message[] = [
    {
      id: 'm1',
      role: 'user',
      createdAt: 7,
      content: 'hi',
      metadata: { messageId: 'm1', turnUsage },
    },
    { id: 'm2', role: 'user', createdAt: 8, content: 'and?', metadata: { messageId: 'm2' } },
  ]
  const [first, second] = historyTurns(messages)
  expect(first?.usage).toEqual({ inputTokens: 11, outputTokens: 22, cost: 0.5, model: 'p/large' })
  expect(first?.at).toBe(7)
  expect(second?.usage).toBeUndefined()
})

test('a call that a user allowed or refused says who did, after the call', () => {
  const metadata = { messageId: 'm1' }
  const call = { role: 'tool', createdAt: 8, metadata, toolName: 'files.remove' } as const
  const messages: Message[] = [
    { id: 'm1', role: 'user', createdAt: 7, content: 'hi', metadata },
    {
      ...call,
      id: 'c1',
      data: { arguments: {}, approval: { how: 'accept', by: 'user:ann' }, outcome: 'ok' },
    },
    {
      ...call,
      id: 'c2',
      data: { arguments: {}, approval: { how: 'expired' }, outcome: 'refused' },
    },
  ]
  expect(historyTurns(messages)[0]?.items).toMatchObject([
    { kind: 'tool', id: 'c1', result: { outcome: 'ok', content: [] } },
    {
      kind: 'question',
      question: { mode: 'approval', server: 'files', tool: 'remove' },
      end: { how: 'accept', by: 'user:ann' },
    },
    { kind: 'tool', id: 'c2' },
    { kind: 'question', end: { how: 'expired' } },
  ])
  expect(historyTurns(messages)[0]?.items[0]).not.toHaveProperty('result.approval')
})
