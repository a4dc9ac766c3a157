import { expect, test } from 'vitest'
import { readPage } from './app-page.ts'

const mimeType = 'text/html;profile=mcp-app'
const uri = 'ui://page'
const read = (...parts: Parameters<typeof readPage>[0]) => readPage(parts, 'chat.example.org')

test('the page is the part with the type of apps', () => {
  const other = { uri, mimeType: 'text/html', text: 'no' }
  expect(read(other, { uri, mimeType: 'Text/HTML; profile=mcp-app', text: '<p>yes' })).toEqual({
    html: '<p>yes',
    domains: { connect: [], resource: [] },
  })
})

test('a page may be in Base64', () => {
  const blob = Buffer.from('<p>grün').toString('base64')
  expect(read({ uri, mimeType, blob }).html).toBe('<p>grün')
})

test('a page names the domains that it asks for', () => {
  const _meta = { ui: { csp: { connectDomains: ['https://a.example.com'] } } }
  expect(read({ uri, mimeType, text: 'x', _meta }).domains.connect).toEqual([
    'https://a.example.com',
  ])
})

test.each([
  ['no parts', [], 'answered nothing'],
  ['another type', [{ uri, mimeType: 'text/html', text: 'x' }], 'answered text/html instead of'],
  ['no type', [{ uri, text: 'x' }], 'answered no type instead of'],
  ['an empty page', [{ uri, mimeType, text: '\n' }], 'is empty'],
  ['a huge page', [{ uri, mimeType, text: 'x'.repeat(9_000_000) }], '9000000 characters'],
])('%s are refused in words', (_, parts, words) => {
  expect(() => read(...parts)).toThrow(words)
})
