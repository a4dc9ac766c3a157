import { newSessionId } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { MemoryDirectory } from './__fixtures__/memory-directory.ts'
import { record } from './__fixtures__/record.ts'
import type { Renaming } from './rename-session.ts'
import { renameSession } from './rename-session.ts'

let directory: MemoryDirectory
beforeEach(() => {
  directory = new MemoryDirectory()
})

const to = (title: string, more: Partial<Renaming> = {}): Renaming => {
  return { title, principal: 'ann', create: false, now: 5_000, ...more }
}

test('a title is kept in one line, without control characters', async () => {
  const known = record()
  await directory.put(known)
  const renamed = await renameSession(directory, known.id, to(' my\n\t trip\u0000 to\u0007 Rome '))
  expect(renamed).toEqual({ ...known, title: 'my trip to Rome', isTitled: true })
  expect(directory.records.get(known.id)).toEqual(renamed)
})

test('a title of which nothing can be seen is refused by its field', async () => {
  const known = record()
  await directory.put(known)
  await expect(renameSession(directory, known.id, to(' \u0000\n'))).rejects.toMatchObject({
    code: 'invalid',
    field: 'title',
  })
})

test('what another wrote meanwhile is kept', async () => {
  const known = record()
  await directory.put(known)
  directory.meanwhile = () => directory.put({ ...known, messages: 7 })
  await renameSession(directory, known.id, to('trip'))
  expect(directory.records.get(known.id)).toMatchObject({ title: 'trip', messages: 7 })
})

test('a session without messages is made known only when that is asked for', async () => {
  const session = newSessionId()
  await expect(renameSession(directory, session, to('trip'))).rejects.toMatchObject({
    code: 'not-found',
  })
  await renameSession(directory, session, to('trip', { create: true }))
  const times = { createdAt: 5_000, updatedAt: 5_000 }
  expect(directory.records.get(session)).toEqual(
    record({ id: session, title: 'trip', isTitled: true, messages: 0, ...times }),
  )
})

test.each([record({ owner: 'bob' }), record({ state: 'deleted' })])(
  'a session of another, or a deleted one, is not there, also not to be created ($owner, $state)',
  async (known) => {
    await directory.put(known)
    for (const create of [false, true]) {
      await expect(
        renameSession(directory, known.id, to('trip', { create })),
      ).rejects.toMatchObject({ code: 'not-found' })
    }
    expect(directory.records.get(known.id)).toEqual(known)
  },
)
