import { expect, test } from 'vitest'
import type { QuestionItem } from './turn.ts'
import { questionEnd } from './question-end.ts'

const about = { server: 'files', tool: 'remove', callId: 'c', message: 'Sure?', expiresAt: 0 }
const form = { state: 'required', id: 'q', kind: 'elicitation', mode: 'form', ...about } as const
const approval = { ...form, kind: 'approval', mode: 'approval' } as const

test.each<[QuestionItem['question'], QuestionItem['end'] & {}, string]>([
  [form, { how: 'accept', by: 'user:ann' }, 'You answered'],
  [form, { how: 'accept', by: 'user:bob' }, 'user:bob answered'],
  [form, { how: 'cancel', by: 'user:ann' }, 'You gave no answer'],
  [approval, { how: 'accept', by: 'user:ann' }, 'You allowed it'],
  [approval, { how: 'accept', by: 'user:bob' }, 'user:bob allowed it'],
  [approval, { how: 'decline', by: 'user:bob' }, 'user:bob said no'],
  [approval, { how: 'decline' }, 'The user said no'],
  [form, { how: 'expired' }, 'Nobody answered in time'],
])('the end of a question names who answered (%#)', (question, end, words) => {
  expect(questionEnd(question, end, 'user:ann')).toBe(words)
})

test('the end of a question names who answered on a page that does not know its user', () => {
  expect(questionEnd(form, { how: 'accept', by: 'user:bob' }, undefined)).toBe('user:bob answered')
  expect(questionEnd(form, { how: 'accept' }, undefined)).toBe('The user answered')
})
