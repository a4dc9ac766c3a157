import type { ServerStatus } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { suggestionsFor } from './suggestions.ts'

// Only what suggestions depend on.
const server = (name: string, state: ServerStatus['state'] = 'ready') =>
  ({ server: name, state }) as ServerStatus
const textsFor = (...servers: readonly ServerStatus[]) =>
  suggestionsFor(servers).map(({ text }) => text)

test('a message is suggested where all servers of its tools run', () => {
  const both = textsFor(server('filesystem'), server('everything'))
  expect(both).toHaveLength(4)
  const [one, other] = [textsFor(server('filesystem')), textsFor(server('everything'))]
  expect(one).toEqual(['Read the text file shopping-list.md', 'What can you do?'])
  expect(other).toEqual(['Get the tiny image', 'What can you do?'])
  expect(textsFor(server('filesystem'), server('everything', 'unavailable'))).toEqual(one)
})

test('without servers the model can still be asked what it can do', () => {
  expect(textsFor()).toEqual(['What can you do?'])
})
