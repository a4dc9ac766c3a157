import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hideCompositionKeys } from './composition-keys.ts'

/** Whether a handler of the page sees a key. */
function isSeen(name: string, fields: Partial<KeyboardEvent>): boolean {
  const page = new EventTarget()
  hideCompositionKeys(page)
  let isHandled = false
  page.addEventListener(name, () => (isHandled = true), { capture: true })
  page.dispatchEvent(Object.assign(new Event(name), fields))
  return isHandled
}

test.each(['keydown', 'keypress', 'keyup'])('no handler sees a %s of an input method', (name) => {
  const enter = { key: 'Enter', keyCode: 13, isComposing: false }
  expect(isSeen(name, enter)).toBe(true)
  expect(isSeen(name, { ...enter, keyCode: 229, isComposing: true })).toBe(false)
  // The order of events of Safari.
  expect(isSeen(name, { ...enter, keyCode: 229 })).toBe(false)
  expect(isSeen(name, { ...enter, isComposing: true })).toBe(false)
  // The event of a form that the browser fills in has no fields of keys.
  expect(isSeen(name, {})).toBe(true)
})

test('the keys of input methods are hidden before the page has any handler', () => {
  const main = readFileSync(new URL('../main.tsx', import.meta.url), 'utf8')
  const [first] = main.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
  expect(first).toBe('hideCompositionKeys(window)')
})
