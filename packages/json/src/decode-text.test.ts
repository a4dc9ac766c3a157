import { expect, test } from 'vitest'

import { decodeText } from './decode-text.ts'
import { readFault } from './read-fault.ts'

const text = 'NAME=ä\r\n'
const little = Buffer.from(text, 'utf16le')
const marked = Buffer.from(`\uFEFF${text}`, 'utf16le')

test.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text}`)],
  ['UTF-16 of little endian', little],
  ['UTF-16 of little endian with a byte order mark', marked],
  ['UTF-16 of big endian', Buffer.from(little).swap16()],
  ['UTF-16 of big endian with a byte order mark', Buffer.from(marked).swap16()],
])('a file in %s is read', (_, bytes) => {
  expect(decodeText(bytes)).toBe(text)
})

test.each([
  ['another encoding', Buffer.from(text, 'latin1')],
  ['half a character of UTF-16', marked.subarray(0, -1)],
])('a file in %s is named as unreadable, with the remedy', (_, bytes) => {
  let fault: unknown
  try {
    decodeText(bytes)
  } catch (error) {
    fault = error
  }
  expect(readFault(fault)).toBe('is no text in UTF-8 or UTF-16; save it as UTF-8')
  expect(decodeText(bytes, { fatal: false })).toContain('NAME=')
})
