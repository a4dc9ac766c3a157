import type { Token } from 'marked'
import { Lexer } from 'marked'
import { describe, expect, test, vi } from 'vitest'
import { BlockParser, parseBlocks } from './parse.ts'
import { isDrawable } from './tex-math.tsx'

const repeat = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** How many characters `read` gives to rules for marks within lines. */
function countInline(read: () => void): number {
  const spy = vi.spyOn(Lexer.prototype, 'inlineTokens')
  try {
    read()
    return spy.mock.calls.reduce((sum, [source]) => sum + source.length, 0)
  } finally {
    spy.mockRestore()
  }
}

const rawOf = (blocks: readonly Token[]): string => blocks.map(({ raw }) => raw).join('')

const words = (text: string): string => text.replaceAll(/\s/g, '')

const HOSTILE = [
  '[',
  '[^',
  '](',
  '[a](',
  '![a](',
  '[a][b]',
  'a',
  'a@',
  'a.b-',
  '$$',
  '$a ',
  '\\(a ',
  '\\[',
  '*a ',
  '**a_b~~ ',
  '~~a ',
  '*',
  '<',
  '<a b="',
  '<!--',
  '`a``b',
  'http://',
  'a&',
  '\\',
  '|',
]

describe('a line that is longer than lines of answers are', () => {
  test.each(HOSTILE)('is shown as it was written, and no rule reads it: %j', (mark) => {
    const text = `x${repeat(mark, 40_000)}`
    for (const isOpen of [false, true]) {
      let blocks: readonly Token[] = []
      const count = countInline(() => (blocks = new BlockParser().parse(text, isOpen)))
      expect(count).toBe(0)
      expect(rawOf(blocks)).toBe(text)
    }
  })

  test('has its marks again where lines are short', () => {
    const [block] = parseBlocks(repeat('**bold** and `code`\n', 40_000).trimEnd())
    expect(JSON.stringify(block).match(/"type":"strong"/g)).toHaveLength(2000)
    expect(JSON.stringify(block).match(/"type":"br"/g)).toHaveLength(1999)
  })
})

describe('the end of a formula is looked for near its mark alone', () => {
  test.each(['\\[a\n\n', '\\[a\n', '\\[a\\]b\n', '\\[a\n# b\n', '$$a\n\n', '$$\na\n$$b\n'])(
    '%j, many times',
    (mark) => {
      const lengths = new Set<number>()
      const search = vi.spyOn(String.prototype, 'search').mockImplementation(function (
        this: string,
        rule: unknown,
      ) {
        lengths.add(this.length)
        // The rules search with expressions alone.
        return (rule as RegExp).exec(this)?.index ?? -1
      })
      const text = repeat(mark, 12_000)
      try {
        expect(rawOf(parseBlocks(text))).toBe(text)
      } finally {
        search.mockRestore()
      }
      expect(Math.max(0, ...lengths)).toBeLessThanOrEqual(3000)
    },
  )

  test.each([
    ['text\n\\[x\n\n+ y\\]\nend', ['paragraph', 'mathBlock', 'paragraph']],
    ['text\n\\[x\n\\[y\\]\nend', ['paragraph', 'mathBlock', 'paragraph']],
    [`text\n\\[${'x'.repeat(4000)}\\]\nend`, ['paragraph']],
    [`$$${'x'.repeat(4000)}$$\nend`, ['paragraph']],
  ])('%j', (text, types) => {
    expect(parseBlocks(text).map(({ type }) => type)).toEqual(types)
  })
})

test('text in deep quotes and lists is read no deeper than it is drawn', () => {
  const spy = vi.spyOn(Lexer.prototype, 'blockTokens')
  for (const mark of ['> ', '- ', '1. ', '> - ', '[^a]: ']) parseBlocks(repeat(mark, 40_000))
  expect(spy.mock.calls.length).toBeLessThanOrEqual(5 * 25)
  spy.mockRestore()
})

describe('a growing text', () => {
  const rows = Array.from({ length: 1500 }, (_, row) => `- **item** ${row} with \`code\`\n`).join(
    '',
  )
  const code = `\`\`\`js\n${repeat('let a = [1]\n', 60_000)}`

  test.each([
    ['list', rows],
    ['code', code],
    ['table', `|a|b|\n|-|-|\n${repeat('|**1**|2|\n', 60_000)}`],
    ['quote', repeat('> text\n', 60_000)],
  ])('is read in proportion to its length, however small its pieces are: %s', (_name, text) => {
    const spy = vi.spyOn(Lexer.prototype, 'lex')
    const parser = new BlockParser()
    const from = text.length - 2000
    for (let at = from; at < text.length; at++) parser.parse(text.slice(0, at), true)
    expect(spy.mock.calls.length).toBeLessThan(30)
    spy.mockRestore()
    expect(parser.parse(text, false)).toEqual(parseBlocks(text))
  })

  test('has each of its characters, also those that came after the last reading', () => {
    for (const text of [rows, code]) {
      const parser = new BlockParser()
      parser.parse(text.slice(0, 30_000), true)
      const blocks = parser.parse(text.slice(0, 30_050), true)
      expect(words(rawOf(blocks))).toBe(words(text.slice(0, 30_050)))
    }
  })

  test('is code to its end where it is code', () => {
    const parser = new BlockParser()
    parser.parse(code.slice(0, 30_003), true)
    expect(parser.parse(code.slice(0, 30_050), true)).toMatchObject([
      { type: 'code', text: code.slice(6, 30_050) },
    ])
  })

  test('of many items has its last one finished', () => {
    const text = `${rows.slice(0, 9000).replace(/\n[^\n]*$/, '')}\n- and **bo`
    const last = JSON.stringify(new BlockParser().parse(text, true)).slice(-400)
    expect(last).toContain('"type":"strong","raw":"**bo**"')
  })
})

describe('a long answer looks as each of its parts', () => {
  test('of 200 KB in paragraphs', () => {
    const part = `${repeat('Some **bold** words, `code` and [a link](https://a.example/b). ', 900)}end\n\n`
    const [first] = parseBlocks(part)
    const all = parseBlocks(repeat(part, part.length * 220)).filter(({ type }) => type !== 'space')
    expect(all).toHaveLength(220)
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(all[0]).toEqual(first)
  })
})

test.each([
  ['x', 2000],
  ['\\ce{A->[', 500],
  ['\\pu{a/', 500],
  ['\\def\\a{\\b\\b}', 500],
])('a formula of %j is drawn up to a length', (tex, length) => {
  expect(isDrawable(tex.padEnd(length, 'x '))).toBe(true)
  expect(isDrawable(tex.padEnd(length + 1, 'x '))).toBe(false)
})

test.each([
  [900, 'heading'],
  [1000, 'paragraph'],
])('%i characters above a line are a %s', (length, type) => {
  expect(parseBlocks(`${'x'.repeat(length)}\n===`)[0]?.type).toBe(type)
})

test.each([
  [64, true],
  [65, false],
])('an address of mail with %i characters before its mark is a link: %s', (length, isLink) => {
  const read = JSON.stringify(parseBlocks(`see ${'a'.repeat(length)}@b.example`))
  expect(read.includes('"type":"link"')).toBe(isLink)
})

test.each([
  [2000, true],
  [2001, false],
])('%i characters within a line are a formula: %s', (length, isFormula) => {
  const read = JSON.stringify(parseBlocks(`see \\(${'x'.repeat(length)}\\)`))
  expect(read.includes('"type":"mathInline"')).toBe(isFormula)
})

test.each([
  [2000, true],
  [4000, false],
])('a growing paragraph of %i characters has its marks finished: %s', (length, isFinished) => {
  const read = JSON.stringify(new BlockParser().parse(`${repeat('text ', length)}**bo`, true))
  expect(read.includes('"type":"strong"')).toBe(isFinished)
})
