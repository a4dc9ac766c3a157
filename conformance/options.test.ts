import { expect, test } from 'vitest'
import { nameOfCell } from './cells.ts'
import { parseOptions } from './options.ts'

function cells(...args: string[]): string[] | string {
  const parsed = parseOptions(args)
  return 'problem' in parsed ? parsed.problem : parsed.options.cells.map(nameOfCell)
}

test('without words there are all cells', () => {
  expect(cells()).toHaveLength(18)
})

test('words choose those that have all of them', () => {
  expect(cells('2025-11-25', 'stdio', 'x2')).toEqual([
    '2025-11-25 gateway stdio legacy x2',
    '2025-11-25 gateway stdio modern x2',
  ])
  expect(cells('direct')).toEqual(['2025-11-25 direct', '2026-07-28 direct'])
})

test('a word that no cell has is a fault, and so is an option that is not known', () => {
  expect(cells('direct', 'x2')).toBe('there is no cell with the words "direct x2"')
  expect(cells('--fast')).toContain("Unknown option '--fast'")
})

test('what is written comes from the server itself', () => {
  expect(cells('--update', 'gateway')).toBe('--update needs a cell of "direct"')
  expect(cells('--update')).toHaveLength(18)
})

test('a server that is given is reached by HTTP, and always run without gateways, too', () => {
  const given = (...words: string[]) => cells('--server', 'node server.js', ...words)
  expect(given()).toHaveLength(2 + 8)
  expect(given('2026-07-28', 'modern', 'x1')).toEqual([
    '2026-07-28 direct',
    '2026-07-28 gateway http modern x1',
  ])
  expect(given('stdio', '2026-07-28')).toEqual(['2026-07-28 direct'])
  expect(given('--update')).toBe('--update is for the fixture, not for --server')
})
