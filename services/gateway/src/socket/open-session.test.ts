import type { Bus } from '@mcp-host/bus'
import type { LostRange } from '@mcp-host/contracts'
import { cursorAfter, LOCAL } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { endOf, SESSION, Story } from '../projection/__fixtures__/story.ts'
import { openSession } from './open-session.ts'

const signSession = (random: string): string => random

let story: Story
let isListening: boolean
let hasAskedDirectory: boolean
let record: { state: string } | undefined
let bus: Bus
let lost: LostRange[]
beforeEach(() => {
  story = new Story()
  isListening = false
  hasAskedDirectory = false
  record = undefined
  lost = []
  const sessions = {
    listen: async () => {
      isListening = true
      return {
        ...endOf(story.entries),
        lost,
        [Symbol.dispose]: () => {
          isListening = false
        },
      }
    },
  }
  const directory = {
    get: async () => {
      hasAskedDirectory = true
      return record && { record, revision: 1 }
    },
  }
  // Only what opening uses.
  bus = { sessions, directory } as unknown as Bus
})

test('a new session is opened without a read', async () => {
  // Any use of the bus throws.
  expect(await openSession({ bus: {} as unknown as Bus, signSession }, {}, LOCAL)).toMatchObject({
    isReconnect: false,
  })
})

test('a session is resumed at a cursor without a read of the directory', async () => {
  const input = story.input('hello')
  story.claim(input)
  const back = await openSession(
    { bus, signSession },
    { sessionId: SESSION, after: `${input.seq}.1.-.0` },
    LOCAL,
  )
  expect(back).toMatchObject({
    cursor: { seq: input.seq, part: 1 },
    queueAfter: input.seq - 1,
    isReconnect: true,
  })
  const { seq } = story.input('and')
  const further = await openSession(
    { bus, signSession },
    { sessionId: SESSION, after: `${seq}.1.-.0` },
    LOCAL,
  )
  expect(further).toMatchObject({ cursor: { seq, part: 1 } })
  expect(hasAskedDirectory).toBe(false)
  const joined = await openSession({ bus, signSession }, { sessionId: SESSION }, LOCAL)
  expect(joined).toMatchObject({ cursor: cursorAfter(input.seq - 1), isReconnect: false })
  expect(hasAskedDirectory).toBe(true)
})

test('a cursor within lost entries is refused, one before or after them is not', async () => {
  const { seq } = story.input('hello')
  const at = (place: number) =>
    openSession({ bus, signSession }, { sessionId: SESSION, after: `${place}.1.-.0` }, LOCAL)
  lost = [{ after: seq - 1, through: seq, at: 0 }]
  await expect(at(seq)).rejects.toMatchObject({
    code: 'invalid',
    field: 'after',
    message: 'query: after was lost when data was damaged; connect without it',
  })
  lost = [{ after: seq, through: seq + 5, at: 0 }]
  expect(await at(seq)).toMatchObject({ cursor: { seq } })
})

test('a session is listened to until its client ends or is refused', async () => {
  const input = story.input('hello')
  const opened = await openSession(
    { bus, signSession },
    { sessionId: SESSION, after: `${input.seq}.1.-.0` },
    LOCAL,
  )
  expect(isListening).toBe(true)
  opened.listening?.[Symbol.dispose]()
  expect(isListening).toBe(false)
  await expect(
    openSession({ bus, signSession }, { sessionId: SESSION, after: '99.1.-.0' }, LOCAL),
  ).rejects.toThrow()
  expect(isListening).toBe(false)
})

test('the queue is read from the newest turn on, also when that is done', async () => {
  const input = story.input('hello')
  story.claim(input)
  const done = story.done()
  const joined = await openSession({ bus, signSession }, { sessionId: SESSION }, LOCAL)
  expect(joined).toMatchObject({ cursor: cursorAfter(done.seq), queueAfter: input.seq - 1 })
})

test('a cursor beyond the session is refused', async () => {
  story.input('hello')
  const back = openSession({ bus, signSession }, { sessionId: SESSION, after: '99.1.-.0' }, LOCAL)
  await expect(back).rejects.toMatchObject({ code: 'invalid', field: 'after' })
})

test('a deleted session is refused at any cursor', async () => {
  record = { state: 'deleted' }
  for (const query of [{}, { after: '99.1.-.0' }]) {
    const opened = openSession({ bus, signSession }, { sessionId: SESSION, ...query }, LOCAL)
    await expect(opened).rejects.toMatchObject({ code: 'not-found', field: 'sessionId' })
  }
})
