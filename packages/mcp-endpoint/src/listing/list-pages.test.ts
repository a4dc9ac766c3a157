import { expect, test } from 'vitest'
import { ListPages } from './list-pages.ts'

const tools = Array.from({ length: 2_500 }, (_, index) => ({ name: `t${index}` }))

interface Page {
  readonly tools: readonly object[]
  readonly nextCursor?: string
}
const read = (page: string | undefined): Page => JSON.parse(`{${page}}`)

test('some thousand items are one page, for clients that read no second one', () => {
  expect(read(new ListPages('tools', tools).page(undefined))).toEqual({ tools })
})

test('a list that is too long for one page is continued at a cursor in the same order', () => {
  const pages = new ListPages('tools', tools, 10_000)
  const found: object[] = []
  let cursor: string | undefined
  do {
    const text = pages.page(cursor)
    const page = read(text)
    expect(JSON.stringify(page.tools).length).toBeLessThan(11_000)
    found.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(found).toEqual(tools)
})

test('an item that is too long for any page has a page of its own', () => {
  const pages = new ListPages('tools', [{ name: 'a' }, { name: 'b'.repeat(50) }, { name: 'c' }], 20)
  const first = read(pages.page(undefined))
  const second = read(pages.page(first.nextCursor))
  expect([first.tools, second.tools]).toEqual([[{ name: 'a' }], [{ name: 'b'.repeat(50) }]])
  expect(read(pages.page(second.nextCursor))).toEqual({ tools: [{ name: 'c' }] })
})

test('an empty list is one page', () => {
  expect(read(new ListPages('tools', []).page(undefined))).toEqual({ tools: [] })
})

test('an empty cursor is that of the first page', () => {
  const pages = new ListPages('tools', tools, 10_000)
  expect(pages.page('')).toBe(pages.page(undefined))
})

test.each(['x', btoa('at 0'), btoa('at 1'), btoa('at 99999')])(
  'the unknown cursor "%s" has no page',
  (cursor) => {
    expect(new ListPages('tools', tools, 10_000).page(cursor)).toBeUndefined()
  },
)
