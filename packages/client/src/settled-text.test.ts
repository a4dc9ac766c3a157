import { expect, test } from 'vitest'
import { settledText } from './settled-text.ts'

test.each([
  [
    'not run: the user did not allow this call. Do not try it again.',
    'The user did not allow this call.',
  ],
  [
    'not run: the user has switched off the tools of "files" in this chat. Do not try them again.',
    'The user has switched off the tools of "files" in this chat.',
  ],
  [
    'not run: this turn may make 2 tool calls. Answer with what you have.',
    'This turn may make 2 tool calls.',
  ],
  [
    'there is no tool "x". Use only the tools you were given, by their exact names.',
    'There is no tool "x".',
  ],
  ['', ''],
])('a user reads "%s" without the words for the model', (message, text) => {
  expect(settledText(message)).toBe(text)
})
