import { expect, test } from 'vitest'
import type { StoredRecord } from './mcp-client-view.ts'
import { ClientView } from './mcp-client-view.ts'

const stored = (revision: number, bytes = 1): StoredRecord => ({
  record: { subscriptions: [`mem://${revision}`] },
  revision,
  bytes,
})

test('the oldest records are evicted beyond a number and a size, except those that are held', async () => {
  const view = new ClientView(async (client) => stored(1, Number(client)), {
    maxRecords: 3,
    maxBytes: 100,
  })
  await view.read('1')
  using _held = view.hold('1')
  for (const client of ['2', '3', '4']) await view.read(client)
  expect(['1', '2', '3', '4'].filter((client) => view.get(client) === undefined)).toEqual(['2'])
  await view.read('98')
  expect(['1', '3', '4', '98'].filter((client) => view.get(client) !== undefined)).toEqual([
    '1',
    '98',
  ])
})

test('an update during the read of a record is newer than the result of the read', async () => {
  const answer = Promise.withResolvers<StoredRecord | undefined>()
  const view = new ClientView(() => answer.promise)
  const reading = view.read('a')
  view.put('a', stored(2))
  answer.resolve(stored(1))
  await reading
  expect(view.get('a')).toEqual(stored(2).record)
})

test('a record that could not be read is read again', async () => {
  let attempts = 0
  const view = new ClientView(async () => {
    if (++attempts === 1) throw new Error('no broker')
    return stored(1)
  })
  await expect(view.read('a')).rejects.toThrow('no broker')
  await view.read('a')
  expect(view.get('a')).toEqual(stored(1).record)
})
