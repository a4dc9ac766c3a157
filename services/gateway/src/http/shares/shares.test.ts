import type { SessionId } from '@mcp-host/contracts'
import { expect, test, vi } from 'vitest'
import { FakeBus } from '../__fixtures__/fake-bus.ts'
import { newShare, Shares } from './shares.ts'

const session = 'sessionsessionse'.repeat(2) as SessionId

test.each([
  ['owns its session', { owner: 'user:eve', createdBy: 'user:root' }],
  ['has created it', { owner: 'user:ann', createdBy: 'user:eve' }],
])('a link shows nothing while the account that %s is disabled', async (_, about) => {
  const disabled = new Set<string>()
  const shares = new Shares(new FakeBus().asBus(), { isDisabled: (id) => disabled.has(id) })
  const { share, token, digest } = newShare({ session, ...about }, 1, Date.now())
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
