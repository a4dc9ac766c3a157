import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import { BusError, newEnvelope, traceId } from '@mcp-host/contracts'
import { ServerUnavailableError, ValidationError } from '@mcp-host/upstream'
import { beforeEach, describe, expect, test } from 'vitest'
import { serveThrough } from './serve-call.ts'
import { audited } from './audited.ts'

const envelope = newEnvelope({ id: 'user:ann', roles: ['user'], scopes: [], entrance: 'rest' })
const call = {
  envelope,
  server: 'files',
  tool: 'read',
  call: 'c1',
  session: 's1',
  arguments: { path: 'a' },
}
const { arguments: args, envelope: _, ...named } = call
const about = {
  ...named,
  principal: 'user:ann',
  roles: ['user'],
  entrance: 'rest',
  traceId: traceId(envelope),
}

let records: AuditRecord[]
let stored: Promise<void> | undefined
let audit: AuditLog
beforeEach(() => {
  records = []
  stored = undefined
  audit = {
    record(record) {
      records.push(record)
      return stored
    },
  }
})

const serve = <Result>(send: () => Promise<Result>): Promise<Result> =>
  serveThrough([audited(audit)])({ ...call, send })

test('a call has an entry of its start, with the arguments, and one of its end', async () => {
  const result = { content: [] }
  expect(
    await serve(async () => {
      expect(records).toHaveLength(1)
      return result
    }),
  ).toBe(result)
  expect(records).toEqual([
    { action: 'tool-started', ...about, arguments: args },
    {
      action: 'tool-finished',
      ...about,
      outcome: 'ok',
      durationMs: expect.any(Number),
      start: records[0],
    },
  ])
})

describe('the entry of the end has the outcome', () => {
  test.each<[string, object]>([
    ['error', { content: [], isError: true }],
    ['input-required', { resultType: 'input_required' }],
  ])('%s of a result', async (outcome, result) => {
    await serve(async () => result)
    expect(records[1]).toMatchObject({ outcome })
  })

  test.each<[string, Error]>([
    ['error', new Error('bad luck')],
    ['refused', new ValidationError('path: is missing', [], {})],
    ['unknown', new ServerUnavailableError('it ended', { isOutcomeUnknown: true })],
    ['not-run', new ServerUnavailableError('it is not ready', {})],
    ['cancelled', new BusError('cancelled', 'the call was cancelled')],
    ['cancelled', new DOMException('This operation was aborted', 'AbortError')],
  ])('%s of a failure, with its message', async (outcome, error) => {
    await expect(serve(() => Promise.reject(error))).rejects.toBe(error)
    expect(records[1]).toMatchObject({ outcome, detail: { error: error.message } })
  })
})

describe('where entries are required', () => {
  test('a call runs once its start is stored', async () => {
    const storing = Promise.withResolvers<void>()
    stored = storing.promise
    let hasRun = false
    const done = serve(async () => (hasRun = true))
    await Promise.resolve()
    expect(hasRun).toBe(false)
    storing.resolve()
    await done
    expect(hasRun).toBe(true)
  })

  test('a call whose start cannot be stored does not run, and says why', async () => {
    stored = Promise.reject(new BusError('unavailable', 'away'))
    let hasRun = false
    const done = serve(async () => (hasRun = true))
    await expect(done).rejects.toMatchObject({
      code: 'server-unavailable',
      server: 'files',
      isOutcomeUnknown: false,
      message: 'the audit log cannot be written, so the call was not run; try again',
    })
    expect(hasRun).toBe(false)
    expect(records[1]).toMatchObject({ action: 'tool-finished', outcome: 'not-run' })
  })
})
