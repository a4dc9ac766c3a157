import { expect, test } from 'vitest'
import { meantFiles } from './meant-files.ts'

const CELLS =
  '<html><style>td { color: red }</style><!--StartFragment--><table><tr><td>Tea</td></tr></table>'
const IMG = '<meta charset="utf-8"><!--StartFragment--><img src="https://x.test/a.png" alt="a">'

test.each<[string, string[], Record<string, string>, string[]]>([
  ['a picture alone', ['image.png'], {}, ['image.png']],
  ['text alone', [], { 'text/plain': 'Tea' }, []],
  ['cells', ['image.png'], { 'text/plain': 'Item\tPrice\nTea\t3\n', 'text/html': CELLS }, []],
  ['one cell', ['image.png'], { 'text/plain': 'Tea', 'text/html': CELLS }, []],
  ['cells without HTML', ['image.png'], { 'text/plain': 'Item\tPrice' }, []],
  ['cells with a named picture', ['cells.png'], { 'text/plain': 'Tea' }, []],
  [
    'a cell with an address',
    ['image.png'],
    { 'text/plain': 'https://x.test/', 'text/html': '<td>https://x.test/</td>' },
    [],
  ],
  ['a picture of a page', ['image.png'], { 'text/html': IMG }, ['image.png']],
  [
    'a picture of a page with its description',
    ['image.png'],
    { 'text/plain': 'a', 'text/html': IMG },
    ['image.png'],
  ],
  [
    'a picture with its address',
    ['image.png'],
    { 'text/plain': 'https://x.test/p?id=1' },
    ['image.png'],
  ],
  ['one picture in two formats', ['image.png', 'image.tiff'], {}, ['image.png']],
  [
    'files with their names',
    ['a.png', 'b.jpg'],
    { 'text/plain': 'a.png\rb.jpg' },
    ['a.png', 'b.jpg'],
  ],
  ['a file without the ending in its name', ['a.png'], { 'text/plain': 'a' }, ['a.png']],
  [
    'files with their addresses',
    ['my a.png'],
    { 'text/plain': 'file:///home/ann/my%20a.png\r\n' },
    ['my a.png'],
  ],
  ['a file with its path', ['a.png'], { 'text/plain': 'C:\\Users\\Ann\\a.png' }, ['a.png']],
  ['a name with a percent sign', ['5%.png'], { 'text/plain': '5%.png' }, ['5%.png']],
  ['a document with a text', ['a.pdf'], { 'text/plain': 'a title' }, ['a.pdf']],
])('%s', (_, names, texts, meant) => {
  const files = names.map((name) => {
    const type = name.endsWith('.pdf') ? 'application/pdf' : 'image/any'
    return new File(['x'], name, { type })
  })
  const given = { files, getData: (type: string) => texts[type] ?? '' }
  expect(meantFiles(given).map(({ name }) => name)).toEqual(meant)
})
