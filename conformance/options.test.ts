import { expect, test } from 'vitest'
import { nameOfCell } from './cells.ts'
import { parseOptions } from './options.ts'

const cells = (...args: string[]): string[] | undefined => parseOptions(args)?.cells.map(nameOfCell)

test('all cells run when no words are given', () => {
  expect(cells()).toHaveLength(18)
})

test('words select the cells that have all of them', () => {
  expect(cells('2025-11-25', 'stdio', 'x2')).toEqual([
    '2025-11-25 gateway stdio legacy x2',
    '2025-11-25 gateway stdio modern x2',
  ])
  expect(cells('direct')).toEqual(['2025-11-25 direct', '2026-07-28 direct'])
})

test('words that no cell has and unknown options are refused', () => {
  const none = 'there is no cell with the words "direct x2"'
  expect(() => cells('direct', 'x2')).toThrow(none)
  expect(() => cells('--fast')).toThrow("Unknown option '--fast'")
})

test('--update needs a cell without a gateway', () => {
  expect(() => cells('--update', 'gateway')).toThrow('--update needs a cell of "direct"')
  expect(cells('--update')).toHaveLength(18)
})

test('a server of --server is reached by HTTP, and always run without gateways, too', () => {
  const given = (...words: string[]) => cells('--server', 'node server.js', ...words)
  expect(given()).toHaveLength(2 + 8)
  expect(given('2026-07-28', 'modern', 'x1')).toEqual([
    '2026-07-28 direct',
    '2026-07-28 gateway http modern x1',
  ])
  expect(given('stdio', '2026-07-28')).toEqual(['2026-07-28 direct'])
  expect(() => given('--update')).toThrow('--update is for the fixture, not for --server')
})
