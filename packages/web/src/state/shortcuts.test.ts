import { expect, test } from 'vitest'
import { isPressed, SHORTCUTS } from './shortcuts.ts'

const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false }
const { newChat, palette } = SHORTCUTS

test('a shortcut needs its key and exactly its modifiers', () => {
  expect(isPressed({ ...none, ctrlKey: true, key: 'k' }, palette)).toBe(true)
  expect(isPressed({ ...none, metaKey: true, key: 'k' }, palette)).toBe(true)
  expect(isPressed({ ...none, key: 'k' }, palette)).toBe(false)
  expect(isPressed({ ...none, ctrlKey: true, key: 'j' }, palette)).toBe(false)
  expect(isPressed({ ...none, ctrlKey: true, altKey: true, key: 'k' }, palette)).toBe(false)
  expect(isPressed({ ...none, ctrlKey: true, shiftKey: true, key: 'K' }, palette)).toBe(false)
  expect(isPressed({ ...none, ctrlKey: true, shiftKey: true, key: 'O' }, newChat)).toBe(true)
})
