import type { Bus } from '@mcp-host/bus'
import { cursorAfter } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { SESSION, Story } from '../projection/__fixtures__/story.ts'
import { openSession } from './open-session.ts'

let story: Story
/** What was looked up. */
let asked: string[]
let record: { state: string } | undefined
let bus: Bus
beforeEach(() => {
  story = new Story()
  asked = []
  record = undefined
  const sessions = {
    lastTurnEvent: async () => story.entries.findLast(({ kind }) => kind === 'turn'),
    lastSequence: async () => {
      asked.push('leader')
      return story.entries.at(-1)?.seq ?? 0
    },
  }
  const directory = {
    get: async () => {
      asked.push('directory')
      return record && { record, revision: 1 }
    },
  }
  // Only what opening uses.
  bus = { sessions, directory } as unknown as Bus
})

test('a new session asks nobody', async () => {
  expect(await openSession({} as unknown as Bus, {})).toMatchObject({ isReconnect: false })
})

test('who comes back within what the last turn wrote needs no other look', async () => {
  const input = story.input('hello')
  story.claim(input)
  const joined = await openSession(bus, { sessionId: SESSION })
  expect(joined).toMatchObject({ cursor: cursorAfter(input.seq - 1), isReconnect: false })
  expect(asked).toEqual(['directory'])
  const back = await openSession(bus, { sessionId: SESSION, after: `${input.seq}.1.-.0` })
  expect(back).toMatchObject({
    cursor: { seq: input.seq, part: 1 },
    queueAfter: input.seq - 1,
    isReconnect: true,
  })
  expect(asked).toEqual(['directory'])
  const { seq } = story.input('and')
  const further = await openSession(bus, { sessionId: SESSION, after: `${seq}.1.-.0` })
  expect(further).toMatchObject({ cursor: { seq, part: 1 } })
  expect(asked).toEqual(['directory', 'directory', 'leader'])
})

test('what waits is looked for from the newest message on, also when its turn is done', async () => {
  const input = story.input('hello')
  story.claim(input)
  const done = story.done()
  const joined = await openSession(bus, { sessionId: SESSION })
  expect(joined).toMatchObject({ cursor: cursorAfter(done.seq), queueAfter: input.seq - 1 })
})

test('a place that is not in the session is refused', async () => {
  story.input('hello')
  const back = openSession(bus, { sessionId: SESSION, after: '99.1.-.0' })
  await expect(back).rejects.toMatchObject({ code: 'invalid', field: 'after' })
})

test('a session that was deleted is refused, wherever its client was', async () => {
  record = { state: 'deleted' }
  for (const query of [{}, { after: '99.1.-.0' }]) {
    const opened = openSession(bus, { sessionId: SESSION, ...query })
    await expect(opened).rejects.toMatchObject({ code: 'not-found', field: 'sessionId' })
  }
})
