import { expect, test } from 'vitest'
import { refusalText } from './refusal-text.ts'

test.each([
  ['this session was deleted', 'this chat was deleted'],
  ['this session has expired; begin another', 'this chat has expired; begin another'],
  ['there is no session "my-session"', 'there is no session "my-session"'],
])('the refusal %j reads %j', (message, text) => {
  expect(refusalText(message)).toBe(text)
})
