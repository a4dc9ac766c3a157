import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, test } from 'vitest'

import { RpcSendError } from '../connection/rpc.ts'
import { toRequestError } from './to-request-error.ts'

/** The error of a request to a server that resets its connections, or does not run. */
async function requestError(isRunning: boolean): Promise<unknown> {
  const server = createServer((request) => void request.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (!isRunning) await server[Symbol.asyncDispose]()
  const cause: unknown = await fetch(`http://127.0.0.1:${port}`).catch((error: unknown) => error)
  server.close()
  const request = { server: 'it', subject: 'odd', tool: 'odd', requestId: undefined }
  return toRequestError(new RpcSendError('fetch failed', { cause }), request)
}

test('the outcome of a request over HTTP is unknown once there was a connection', async () => {
  expect(await requestError(true)).toMatchObject({
    isOutcomeUnknown: true,
    message:
      'the server "it" cannot be reached: fetch failed: other side closed; whether the tool took effect is not known',
  })
  expect(await requestError(false)).toMatchObject({
    isOutcomeUnknown: false,
    message: expect.stringMatching(
      /cannot be reached: fetch failed: connect ECONNREFUSED 127.0.0.1/,
    ),
  })
})
