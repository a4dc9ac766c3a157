import type { SessionId } from '@mcp-host/contracts'
import { expect, test, vi } from 'vitest'
import { FakeBus } from '../__fixtures__/fake-bus.ts'
import { newShare, Shares } from './shares.ts'

const session = 'sessionsessionse'.repeat(2) as SessionId

test.each<[string, Parameters<typeof newShare>[0]]>([
  ['owns its session', { session, owner: 'user:eve', createdBy: 'user:root' }],
  ['has created it', { session, owner: 'user:ann', createdBy: 'user:eve' }],
  [
    'made the key that has created it',
    {
      session,
      owner: 'key:eve',
      createdBy: 'key:eve',
      makers: { principals: ['key:eve', 'user:eve'], keys: ['k'] },
    },
  ],
])('a link shows nothing while the account that %s is disabled', async (_, about) => {
  const disabled = new Set<string>()
  const shares = new Shares(new FakeBus().asBus(), {
    areInOrder: ({ principals }) => !principals.some((id) => disabled.has(id)),
  })
  const { share, token, digest } = newShare(about, 1, Date.now())
  await shares.add(share, digest)
  expect(await shares.find(token)).toEqual(share)
  const stream = new AbortController()
  using _watch = await shares.abortAtEnd(share, stream)
  disabled.add('user:eve')
  await expect(shares.find(token)).rejects.toMatchObject({ code: 'not-found' })
  await vi.waitFor(() => expect(stream.signal.aborted).toBe(true), 3_000)
  disabled.clear()
  expect(await shares.find(token)).toEqual(share)
})

test('a link of an admin to the session of another shows nothing without the role', async () => {
  const roles = new Set(['admin'])
  const shares = new Shares(new FakeBus().asBus(), {
    areInOrder: (_, role) => role === undefined || roles.has(role),
  })
  const add = async (owner: string) => {
    const about = { session, owner, createdBy: 'user:eve' }
    const { share, token, digest } = newShare(about, 1, Date.now())
    await shares.add(share, digest)
    return token
  }
  const [own, foreign] = [await add('user:eve'), await add('user:ann')]
  expect(await shares.find(foreign)).toMatchObject({ owner: 'user:ann' })
  roles.clear()
  await expect(shares.find(foreign)).rejects.toMatchObject({ code: 'not-found' })
  expect(await shares.find(own)).toMatchObject({ owner: 'user:eve' })
})

test('of many links that are made at once, a session gets as many as the limit has', async () => {
  const bus = new FakeBus()
  const shares = new Shares(bus.asBus(), { areInOrder: () => true })
  const make = async (of: SessionId) => {
    const about = { session: of, owner: 'user:ann', createdBy: 'user:ann' }
    const { share, digest } = newShare(about, 1, Date.now())
    await shares.add(share, digest)
    return share.id
  }
  await make(session)
  bus.holdViews()
  const made = await Promise.allSettled(Array.from({ length: 40 }, () => make(session)))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(19)
  await expect(make(session)).rejects.toMatchObject({ code: 'exhausted' })
  await make('otherothersessio'.repeat(2) as SessionId)
  const [last] = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  await shares.revoke(last ?? '')
  await make(session)
})
