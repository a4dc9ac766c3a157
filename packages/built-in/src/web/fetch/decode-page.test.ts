import { expect, test } from 'vitest'

import { decodePage } from './decode-page.ts'

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')]

test.each([
  ['the charset of the header', 'text/html; charset="windows-1251"', [0xca, 0xee, 0xf2], 'Кот'],
  [
    'a charset of the header before that of the page',
    'text/html;charset=utf-8',
    [...ascii('<meta charset=latin1>'), 0xc3, 0xa9],
    '<meta charset=latin1>é',
  ],
  [
    'a byte order mark before all others',
    'text/html;charset=latin1',
    [0xef, 0xbb, 0xbf, 0xc3, 0xa9],
    'é',
  ],
  ['UTF-16 with its mark', '', [0xff, 0xfe, 0x41, 0x04], '\u0441'],
  [
    'the charset of a meta element',
    'text/html',
    [...ascii('<meta charset="shift_jis">'), 0x82, 0xa0],
    '<meta charset="shift_jis">あ',
  ],
  [
    'the encoding of XML',
    'text/xml',
    [...ascii('<?xml version="1.0" encoding="koi8-r"?>'), 0xcb],
    '<?xml version="1.0" encoding="koi8-r"?>к',
  ],
  [
    'a meta element that lies about UTF-16',
    'text/html',
    ascii('<meta charset=utf-16>a'),
    '<meta charset=utf-16>a',
  ],
  ['an unknown charset as UTF-8', 'text/html; charset=utf8-bom', [0xc3, 0xa9], 'é'],
  ['no charset as UTF-8', '', [0xc3, 0xa9], 'é'],
])('a page is decoded by %s', (_, contentType, bytes, expected) => {
  expect(decodePage(Uint8Array.from(bytes), contentType)).toBe(expected)
})
