import { expect, test } from 'vitest'
import { ToolIndex } from './tool-index.ts'

const tool = (name: string, description: string, ...parameters: string[]) => ({
  name,
  description,
  inputSchema: { properties: Object.fromEntries(parameters.map((each) => [each, {}])) },
})

const index = new ToolIndex([
  tool('create_issue', 'Opens an issue.', 'title', 'body'),
  tool('listPullRequests', 'All that are open.', 'repo'),
  tool('merge', 'Merges a pull request.', 'number'),
  tool('weather', 'The forecast of a city.', 'place'),
  { ...tool('deleteFile', 'Gone.', 'path'), title: 'Remove' },
  { name: 'bare', inputSchema: 7 },
])

test.each([
  ['open an issue', 'create_issue'],
  ['pull requests', 'listPullRequests'],
  ['forecast', 'weather'],
  ['weathr', 'weather'],
  ['remove a file', 'deleteFile'],
  ['place', 'weather'],
  ['bare', 'bare'],
])('"%s" finds %s first', (query, name) => {
  expect(index.search(query, 5)[0]?.name).toBe(name)
})

test.each<[string, string, number]>([
  ['only the beginning of a query counts', `${'x'.repeat(32_000)} weather`, 0],
  ['only the first 32 words of a query count', `${manyWords(32)} weather`, 0],
  ['only the first 8 words of a query may be misspelled', `${manyWords(8)} weathr`, 0],
  ['a repeated word counts once', `${'x1 '.repeat(40)}weather`, 1],
  ['words that differ too much do not match', 'weatherxyzxyzxyzxyzxyz', 0],
])('%s', (_, query, count) => {
  expect(index.search(query, 5)).toHaveLength(count)
})

test('the number and length of indexed words of a tool is bounded', () => {
  const hostile = new ToolIndex([
    tool('many', `${manyWords(100)} hidden`),
    tool('long', `${'y'.repeat(1_000_000)} hidden`),
    tool('wide', 'Has many arguments.', ...manyWords(100).split(' '), 'hidden'),
    tool(`n${'n'.repeat(1_000_000)}`, 'shown'),
  ])
  expect(hostile.search('hidden', 5)).toEqual([])
  expect(hostile.search('n'.repeat(900), 5)).toHaveLength(1)
})

test('a prepared index finds the same, and is built with pauses', async () => {
  const tools = Array.from({ length: 500 }, (_, number) => tool(`tool${number}`, manyWords(20)))
  const [prepared, other] = [new ToolIndex(tools), new ToolIndex(tools)]
  let turns = 0
  const counting = setInterval(() => (turns += 1))
  await Promise.all([prepared.prepare(), prepared.prepare()])
  clearInterval(counting)
  expect(turns).toBeGreaterThan(10)
  expect(prepared.search('tool77', 3)).toEqual(other.search('tool77', 3))
})

function manyWords(count: number): string {
  return Array.from({ length: count }, (_, number) => `q${number}`).join(' ')
}

test('a search returns as many tools as requested, and none without a match', () => {
  expect(index.search('pull request issue file city', 2)).toHaveLength(2)
  expect(index.search('zzzz', 5)).toEqual([])
})
