import type { LogFact, ServerName, SessionId, SessionRecord } from '@mcp-host/contracts'
import { newEnvelope, newSessionId } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { MemoryDirectory } from './__fixtures__/memory-directory.ts'
import { record } from './__fixtures__/record.ts'
import type { SessionChange } from './update-session.ts'
import { updateSession } from './update-session.ts'

let directory: MemoryDirectory
let appended: LogFact[]
beforeEach(() => {
  directory = new MemoryDirectory()
  appended = []
})

const change = (session: SessionId, changes: SessionChange): Promise<SessionRecord> => {
  const append = async (_: SessionId, fact: LogFact) => {
    appended.push(fact)
    return { seq: appended.length, duplicate: false }
  }
  const bus = { directory, sessions: { append } }
  const deps = { bus, providers: () => ['demo', 'xai'], now: () => 5_000 }
  return updateSession(deps, session, changes, newEnvelope('ann'))
}

test('a title is stored as one line without control characters', async () => {
  const known = record()
  await directory.put(known)
  const renamed = await change(known.id, { title: ' my\n\t trip\u0000 to\u0007 Rome ' })
  expect(renamed).toEqual({ ...known, title: 'my trip to Rome', isTitled: true })
  expect(directory.records.get(known.id)).toEqual(renamed)
})

test('the model of a session may be named by the alias of its provider', async () => {
  const known = record()
  await directory.put(known)
  expect(await change(known.id, { model: 'grok/grok-4' })).toMatchObject({ model: 'xai/grok-4' })
  expect(appended).toMatchObject([{ fact: { model: 'xai/grok-4' } }])
})

test('a title without visible characters is refused with its field', async () => {
  const known = record()
  await directory.put(known)
  await expect(change(known.id, { title: ' \u0000\n' })).rejects.toMatchObject({
    code: 'invalid',
    field: 'title',
  })
})

test('a concurrent write of a record is kept', async () => {
  const known = record()
  await directory.put(known)
  directory.concurrentWrite = () => directory.put({ ...known, messages: 7 })
  await change(known.id, { title: 'trip' })
  expect(directory.records.get(known.id)).toMatchObject({ title: 'trip', messages: 7 })
})

test('a session without messages is created only on request', async () => {
  const session = newSessionId()
  await expect(change(session, { title: 'trip' })).rejects.toMatchObject({
    code: 'not-found',
  })
  await change(session, { title: 'trip', create: true })
  const times = { createdAt: 5_000, updatedAt: 5_000 }
  expect(directory.records.get(session)).toEqual(
    record({ id: session, title: 'trip', isTitled: true, messages: 0, ...times }),
  )
})

test.each([record({ owner: 'bob' }), record({ state: 'deleted' })])(
  'a session that is deleted or of another owner is neither found nor created ($owner, $state)',
  async (known) => {
    await directory.put(known)
    for (const create of [false, true]) {
      await expect(change(known.id, { title: 'trip', create })).rejects.toMatchObject({
        code: 'not-found',
      })
    }
    expect(directory.records.get(known.id)).toEqual(known)
  },
)

test('a model is chosen by a fact in the log, for later messages', async () => {
  const known = record({ title: 'trip' })
  await directory.put(known)
  expect(await change(known.id, { model: 'xai/grok' })).toEqual({
    ...known,
    model: 'xai/grok',
    modelSeq: 1,
  })
  expect(directory.records.get(known.id)).toMatchObject({ model: 'xai/grok' })
  expect(await change(known.id, { model: null })).toEqual({ ...known, modelSeq: 2 })
  expect(appended.map(({ fact }) => fact)).toEqual([
    { type: 'model-chosen', model: 'xai/grok' },
    { type: 'model-chosen' },
  ])
})

test('a change of the title does not change the model', async () => {
  const known = record({ model: 'xai' })
  await directory.put(known)
  expect(await change(known.id, { title: 'trip' })).toMatchObject({ model: 'xai', title: 'trip' })
  expect(appended).toEqual([])
})

test('a model of an unknown provider is refused with the known ones', async () => {
  const known = record()
  await directory.put(known)
  await expect(change(known.id, { model: 'nope/x' })).rejects.toMatchObject({
    code: 'invalid',
    field: 'model',
    message: expect.stringMatching(/"nope"; there are demo, xai/),
  })
  expect([appended, directory.records.get(known.id)]).toEqual([[], known])
})

test('the later of two concurrently chosen models in the log is recorded', async () => {
  const known = record({ model: 'demo', modelSeq: 7 })
  await directory.put(known)
  expect(await change(known.id, { model: 'xai' })).toEqual(known)
})

test('a model cannot be chosen for a session of another owner', async () => {
  const known = record({ owner: 'bob' })
  await directory.put(known)
  await expect(change(known.id, { model: 'xai', create: true })).rejects.toMatchObject({
    code: 'not-found',
  })
  expect(appended).toEqual([])
})

test('settings and metadata of a session are set and reset', async () => {
  const known = record()
  await directory.put(known)
  const servers = ['files' as ServerName]
  const own = { systemPrompt: 'Be short.', temperature: 0, maxToolCalls: 3, servers }
  const metadata = { customer: 7 }
  const changed = await change(known.id, { ...own, metadata })
  expect(changed).toMatchObject({ ...own, metadata, settingsSeq: 1 })
  expect(appended).toEqual([{ kind: 'control', fact: { type: 'settings-chosen', ...own } }])
  const reset = await change(known.id, { temperature: null, metadata: null })
  expect(reset).toMatchObject({ systemPrompt: 'Be short.', maxToolCalls: 3, servers })
  expect(reset).not.toHaveProperty('temperature')
  expect(reset).not.toHaveProperty('metadata')
})

test('metadata that is too large is refused with its field', async () => {
  const known = record()
  await directory.put(known)
  const metadata = { text: 'x'.repeat(20_000) }
  await expect(change(known.id, { metadata })).rejects.toMatchObject({
    code: 'invalid',
    field: 'metadata',
  })
})

test('an expired session is distinguished from an unknown one', async () => {
  const known = record()
  await directory.put({ ...known, state: 'deleted', isExpired: true })
  await expect(change(known.id, { title: 'x' })).rejects.toMatchObject({ reason: 'expired' })
  await expect(change(newSessionId(), { title: 'x' })).rejects.toMatchObject({ reason: undefined })
})
