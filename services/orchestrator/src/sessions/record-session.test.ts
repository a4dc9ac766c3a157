import type { SessionState } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryDirectory } from './__fixtures__/memory-directory.ts'
import { MemoryLog } from './__fixtures__/memory-log.ts'
import { record } from './__fixtures__/record.ts'
import { SessionRecorder } from './record-session.ts'

let directory: MemoryDirectory
let recorder: SessionRecorder
let warnings: string[]
beforeEach(() => {
  vi.useFakeTimers()
  directory = new MemoryDirectory()
  warnings = []
  const logger = { warn: (_: object, message: string) => void warnings.push(message) }
  // SessionRecorder logs with this method only.
  recorder = new SessionRecorder({ bus: { directory }, logger: logger as unknown as Logger })
})
afterEach(() => void vi.useRealTimers())

function fold({ entries }: MemoryLog): SessionState {
  const state = emptySession()
  for (const entry of entries) applyEntry(state, entry)
  return state
}

const recorded = ({ session }: MemoryLog) => directory.records.get(session)

test('a record is written with the owner and a title from the first message', async () => {
  const log = new MemoryLog('bob')
  const line = `  how\u0007 do I ${'💡'.repeat(100)}`
  log.turn('a', 'so', { text: `\n${line}\nand then?` })
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  expect(recorded(log)).toEqual({
    id: log.session,
    owner: 'bob',
    title: `how do I ${'💡'.repeat(71)}`,
    isTitled: false,
    createdAt: log.entries[0]?.time,
    updatedAt: log.entries.at(-1)?.time,
    messages: 1,
    entries: log.entries.length,
    toolCallCount: 0,
    usage: [{ provider: 'demo', model: 'tiny', generations: 1, inputTokens: 3, outputTokens: 2 }],
    state: 'active',
  })
})

test('frequent changes of a session are coalesced into one write', async () => {
  const log = new MemoryLog()
  log.turn('a')
  for (const id of ['b', 'c', 'd']) {
    log.turn(id)
    recorder.note(log.session, fold(log))
  }
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)?.messages).toBe(4)
  expect(directory.options).toHaveLength(1)
})

test('a record says that a message is unanswered, until it is answered', async () => {
  const log = new MemoryLog()
  const input = log.addInput('a')
  log.claim(input)
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  expect(recorded(log)?.activity).toBe('running')
  log.write({ text: 'hello' })
  log.done(input)
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)).toMatchObject({ activity: undefined, messages: 1 })
})

test('changes during a write are written after it', async () => {
  const log = new MemoryLog()
  log.turn('a')
  const write = Promise.withResolvers<void>()
  directory.concurrentWrite = () => write.promise
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  log.turn('b')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)).toBeUndefined()
  write.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(recorded(log)?.messages).toBe(2)
})

test('a change at the end of a write is written', async () => {
  // One of these is between the look for more changes and the end of the write.
  for (let microtasks = 0; microtasks < 30; microtasks++) {
    const log = new MemoryLog()
    const input = log.addInput('a')
    log.claim(input)
    recorder.note(log.session, fold(log))
    for (let passed = 0; passed < microtasks; passed++) await Promise.resolve()
    log.write({ text: 'hello' })
    log.done(input)
    recorder.note(log.session, fold(log))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(recorded(log)?.activity).toBeUndefined()
  }
})

test('a first message of files alone gives the name of a file as the title', async () => {
  const log = new MemoryLog('bob')
  const seq = log.turn('a', 'so', { text: '' })
  const state = fold(log)
  const blob = { key: 'k', bytes: 3, digest: 'd' }
  Object.assign(state.inputs.get(seq) ?? {}, {
    attachments: [{ mimeType: 'image/png', name: 'holiday.png', blob }],
  })
  recorder.note(log.session, state)
  await vi.advanceTimersByTimeAsync(0)
  expect(recorded(log)).toMatchObject({ title: 'holiday.png' })
})

test('a title that a user sets during a write is kept', async () => {
  const log = new MemoryLog()
  log.turn('a')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  const known = recorded(log)
  if (known === undefined) throw new Error('not recorded')
  log.turn('b')
  directory.concurrentWrite = () => directory.put({ ...known, title: 'mine', isTitled: true })
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)).toMatchObject({ title: 'mine', isTitled: true, messages: 2 })
})

test('the record of a deleted session is not updated', async () => {
  const log = new MemoryLog()
  log.turn('a')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  const known = recorded(log)
  if (known === undefined) throw new Error('not recorded')
  await directory.put({ ...known, state: 'deleted' })
  log.turn('b')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)).toMatchObject({ state: 'deleted', messages: 1 })
})

test('an outdated state, as of a thawed orchestrator, is not written', async () => {
  const log = new MemoryLog()
  log.turn('a')
  const old = fold(log)
  log.turn('b')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  recorder.note(log.session, old)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)?.messages).toBe(2)
})

test('a failed write is logged and repeated at the next turn', async () => {
  const log = new MemoryLog()
  log.turn('a')
  directory.concurrentWrite = () => Promise.reject(new BusError('unavailable', 'away'))
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  expect(warnings).toHaveLength(1)
  expect(recorded(log)).toBeUndefined()
  log.turn('b')
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(recorded(log)?.messages).toBe(2)
})

test('a pending change is written at disposal', async () => {
  const log = new MemoryLog()
  log.turn('a')
  log.turn('b')
  recorder.note(log.session, fold(log))
  await recorder[Symbol.asyncDispose]()
  expect(recorded(log)?.messages).toBe(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('a session that was created with a model gets the title of its first message', async () => {
  const log = new MemoryLog()
  const known = record({ id: log.session, title: '', messages: 0, updatedAt: 0, model: 'xai' })
  await directory.put(known)
  log.turn('a', 'so', { text: 'to Rome' })
  recorder.note(log.session, fold(log))
  await vi.advanceTimersByTimeAsync(0)
  expect(recorded(log)).toMatchObject({ title: 'to Rome', model: 'xai', messages: 1 })
})
