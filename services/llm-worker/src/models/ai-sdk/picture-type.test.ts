import { expect, test } from 'vitest'
import { pictureType } from './picture-type.ts'

test.each([
  ['image/png', '\x89PNG\r\n\x1A\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xFF\xD8\xFF\xE0\0\x10JFIF'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF\x10\0\0\0WEBPVP8 '],
  [undefined, '<svg xmlns="http://www.w3.org/2000/svg">'],
  [undefined, 'RIFF\x10\0\0\0WAVEfmt '],
  [undefined, 'BM\x10\0\0\0'],
  [undefined, ''],
])('the type %s is known by the first bytes', (type, bytes) => {
  expect(pictureType(Buffer.from(bytes, 'latin1').toString('base64'))).toBe(type)
})
