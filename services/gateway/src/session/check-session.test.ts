import { createHash } from 'node:crypto'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { LOCAL, NOBODY } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { newChatId } from './chat-id.ts'
import type { CheckSessionDeps } from './check-session.ts'
import { checkSession } from './check-session.ts'
import { SessionAccess } from './session-access.ts'

const user = (id: string, roles = ['user']): Principal => ({ ...LOCAL, id, method: 'key', roles })
const ann = user('user:ann')
const bob = user('user:bob')
const root = user('user:root', ['admin'])
/** A key whose principal has the name of the one without authentication. */
const named = user('local')

const signSession = (text: string): string => createHash('sha256').update(text).digest('hex')
const ID = newChatId(signSession, ann)
const OWN = 'made-up-by-a-client' as SessionId

let recordOwner: string | undefined
let firstAuthor: string | undefined
let reads: number
let deps: CheckSessionDeps
beforeEach(() => {
  recordOwner = undefined
  firstAuthor = undefined
  reads = 0
  const directory = {
    get: async () => {
      reads += 1
      return recordOwner && { record: { owner: recordOwner, state: 'active' }, revision: 1 }
    },
  }
  const sessions = {
    read: async () => (firstAuthor === undefined ? [] : [{ envelope: { principal: firstAuthor } }]),
    isDeleted: async () => false,
  }
  // Only what a check uses.
  deps = { bus: { directory, sessions } as unknown as CheckSessionDeps['bus'], signSession }
})

const isFound = (session: SessionId, principal: Principal): Promise<boolean> =>
  checkSession(deps, session, principal).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'not-found', field: 'id' })
      return false
    },
  )

describe('a chat without a record or a message', () => {
  test.each([
    ['the principal for whom its id was made', ID, ann, true],
    ['another principal', ID, bob, false],
    ['an admin', ID, root, false],
    ['a client without credential', ID, { ...NOBODY, id: 'user:bob' }, false],
    ['a key with the name of the local principal', ID, named, false],
    ['every client, where none authenticates', ID, LOCAL, true],
  ])('is found by %s: %#', async (_, id, principal, isOpen) => {
    expect(await isFound(id, principal)).toBe(isOpen)
  })

  test('with an id of a client is found only where no client authenticates', async () => {
    for (const principal of [ann, root]) expect(await isFound(OWN, principal)).toBe(false)
    expect(await isFound(OWN, LOCAL)).toBe(true)
  })
})

test.each(['record', 'message'])('the principal of its %s has a chat with any id', async (kind) => {
  if (kind === 'record') recordOwner = bob.id
  else firstAuthor = bob.id
  for (const id of [ID, OWN]) {
    const found = [ann, bob, root, LOCAL].map((principal) => isFound(id, principal))
    expect(await Promise.all(found)).toEqual([false, true, true, true])
  }
})

describe('the access of a connection', () => {
  const accessOf = (principal: Principal) => new SessionAccess(deps, ID, principal, 'id')

  test('ends when another principal begins the chat', async () => {
    const access = accessOf(ann)
    await access.check()
    firstAuthor = bob.id
    await expect(access.check()).rejects.toMatchObject({ code: 'not-found' })
  })

  test('is checked no more once the owner is known', async () => {
    const access = accessOf(ann)
    await access.check()
    firstAuthor = ann.id
    await Promise.all([access.check(), access.check()])
    expect(reads).toBe(2)
    expect(access.check()).toBeUndefined()
  })

  test('needs no check where no client authenticates', () => {
    expect(accessOf(LOCAL).check()).toBeUndefined()
  })
})
