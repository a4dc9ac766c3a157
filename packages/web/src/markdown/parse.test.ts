import { array, assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEntities } from './entities.ts'
import { readPieces } from './highlight-code.ts'
import { inlinePicture, safeLink } from './links.ts'
import { BlockParser, parseBlocks } from './parse.ts'

const types = (text: string, isOpen = false): string[] =>
  new BlockParser().parse(text, isOpen).flatMap(({ type }) => (type === 'space' ? [] : type))

describe('a growing text', () => {
  const document =
    '# Title\n\nA *b* `c`\n\n- one\n- two\n\n```js\nlet a\n\nlet b\n```\n\n| a |\n|---|\n| 1 |\n\n1. **First**:\n\n    - one\n    - two\n\n2. Second\n\nlast\n'

  test('a text that grows piece by piece ends as if it was parsed at once', () => {
    const parts = array(integer({ min: 1, max: 9 }), { minLength: 1 })
    const grows = property(parts, (lengths) => {
      const parser = new BlockParser()
      let at = 0
      for (const length of lengths) parser.parse(document.slice(0, (at += length)), true)
      expect(parser.parse(document, true)).toEqual(parseBlocks(document))
    })
    assert(grows, { numRuns: 200 })
  })

  test('a text that grows by single characters does, too', () => {
    const parser = new BlockParser()
    for (let at = 0; at < document.length; at++) parser.parse(document.slice(0, at), true)
    expect(parser.parse(document, true)).toEqual(parseBlocks(document))
  })

  test('finished blocks are the same objects, so that they are not drawn again', () => {
    const parser = new BlockParser()
    const [first] = parser.parse('one\n\ntwo', true)
    expect(parser.parse('one\n\ntwo and more', true)[0]).toBe(first)
  })

  test('a text that is replaced is parsed from its beginning', () => {
    const parser = new BlockParser()
    parser.parse('one\n\ntwo', true)
    expect(parser.parse('# other', true)).toMatchObject([{ type: 'heading' }])
  })

  test('unfinished syntax is shown as if it were finished, as long as more follows', () => {
    const bold = { type: 'paragraph', tokens: [{ type: 'strong' }] }
    expect(new BlockParser().parse('**bo', true)).toMatchObject([bold])
    expect(new BlockParser().parse('**bo', false)[0]).not.toMatchObject(bold)
  })
})

test.each([
  ['$$x^2$$', 'mathBlock'],
  ['\\[x^2\\]', 'mathBlock'],
  ['a $x^2$ b', 'mathInline'],
  ['a \\(x\\) b', 'mathInline'],
])('%s is math', (text, type) => {
  expect(JSON.stringify(parseBlocks(text))).toContain(`"type":"${type}"`)
})

test.each(['it costs $5 and $6', '`$x$`', '```\n$$x$$\n```'])('%s is no math', (text) => {
  expect(JSON.stringify(parseBlocks(text))).not.toContain('"type":"math')
})

test('a text that is nested too deeply is shown as it was written', () => {
  const text = '>'.repeat(100_000)
  expect(
    parseBlocks(text)
      .map(({ raw }) => raw)
      .join(''),
  ).toBe(text)
  expect(types('plain')).toEqual(['paragraph'])
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:http://x/1',
  '/logout',
  '//evil.example',
  '#/chat/x',
  '',
])('%j is no link', (href) => {
  expect(safeLink(href)).toBeUndefined()
})

test.each(['https://a.example/b', 'http://a.example/', 'mailto:a@b.example'])(
  '%s is a link',
  (href) => {
    expect(safeLink(href)).toBe(href)
  },
)

test('only small pictures without scripts are shown in place', () => {
  expect(inlinePicture('data:image/png;base64,AAAA')).toBe('data:image/png;base64,AAAA')
  for (const other of [
    'data:image/svg+xml;base64,AAAA',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'data:text/html;base64,AAAA',
    'https://a.example/b.png',
    '/api/me',
  ]) {
    expect(inlinePicture(other)).toBeUndefined()
  }
})

test('character references become characters, and unknown ones stay', () => {
  expect(decodeEntities('&lt;b&gt; &amp;amp; &#65;&#x42; &nope; &#0; &#x110000;')).toBe(
    '<b> &amp; AB &nope; &#0; &#x110000;',
  )
})

test('highlighted code is read as pieces, and its text stays the same', () => {
  const html =
    '<span class="hljs-keyword">if</span> (a &lt; <span class="hljs-string">&quot;<span class="hljs-subst">b</span>&quot;</span>)'
  const pieces = readPieces(html)
  expect(pieces.map(({ text }) => text).join('')).toBe('if (a < "b")')
  expect(pieces[0]).toEqual({ name: 'hljs-keyword', text: 'if' })
  expect(pieces.find(({ text }) => text === 'b')?.name).toBe('hljs-subst')
})
