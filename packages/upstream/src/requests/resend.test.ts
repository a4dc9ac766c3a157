import type { Logger } from '@mcp-host/process'
import { silentLogger } from '@mcp-host/process'
import { beforeEach, expect, test } from 'vitest'

import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import type { ResendDeps } from './resend.ts'
import { resend, retryPolicy } from './resend.ts'

const away = new ServerUnavailableError('it is away', { server: 's' })
const policy = retryPolicy({ retry: { delayMs: 0 } }, true)
const failed = { subject: 'echo', options: { requestId: 'r1' }, policy, timeoutMs: 1, error: away }

let logged: unknown[]
let deps: ResendDeps
beforeEach(() => {
  logged = []
  const logger: Logger = { ...silentLogger, info: (fields: object) => void logged.push(fields) }
  deps = { logger, mayComeBack: () => true, comesBack: async () => true }
})

test('a request that succeeds when it is sent again is logged as recovered by its connection', async () => {
  let sent = 0
  const send = async (): Promise<string> => {
    sent += 1
    if (sent === 1) throw away
    return 'done'
  }
  expect(await resend(deps, failed, send)).toBe('done')
  expect(logged).toEqual([
    {
      action: 'recovered',
      recoveredBy: 'connection',
      subject: 'echo',
      requestId: 'r1',
      afterMs: expect.any(Number),
    },
  ])
})

test('a request that fails every time is not', async () => {
  await expect(resend(deps, failed, () => Promise.reject(away))).rejects.toBe(away)
  expect(logged).toEqual([])
})
