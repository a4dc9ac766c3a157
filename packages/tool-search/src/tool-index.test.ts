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

test('so many come as are wanted, and none where nothing fits', () => {
  expect(index.search('pull request issue file city', 2)).toHaveLength(2)
  expect(index.search('zzzz', 5)).toEqual([])
})
