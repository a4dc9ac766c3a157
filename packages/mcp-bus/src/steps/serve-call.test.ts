import { newEnvelope } from '@mcp-host/contracts'
import { expect, test } from 'vitest'

import type { CallStep } from './serve-call.ts'
import { serveThrough } from './serve-call.ts'
import { callSteps } from './index.ts'

const call = {
  envelope: newEnvelope('local'),
  server: 'files',
  tool: 'read',
  call: 'c1',
  session: undefined,
  arguments: {},
}

test('a call passes the steps in their order, and its answer passes them back', async () => {
  const passed: string[] = []
  const step =
    (name: string): CallStep =>
    (next) =>
    async (given) => {
      passed.push(`${name} before`)
      const result = await next(given)
      passed.push(`${name} after`)
      return result
    }
  const serve = serveThrough([step('outer'), step('inner')])
  const send = async (): Promise<string> => {
    passed.push('sent')
    return 'done'
  }
  expect(await serve({ ...call, send })).toBe('done')
  expect(passed).toEqual(['outer before', 'inner before', 'sent', 'inner after', 'outer after'])
})

test('a call runs without entries where the audit log is off', async () => {
  const serve = serveThrough(callSteps({ audit: undefined }))
  expect(await serve({ ...call, send: async () => 'done' })).toBe('done')
})
