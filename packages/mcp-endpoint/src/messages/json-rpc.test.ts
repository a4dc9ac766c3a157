import { expect, test } from 'vitest'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './json-rpc.ts'

test('a long message of an error is cut between two characters', () => {
  const { message } = new JsonRpcError(JsonRpcCode.invalidParams, `no tool "${'👋'.repeat(10_000)}`)
  expect(message.length).toBeLessThanOrEqual(800)
  expect(message.isWellFormed()).toBe(true)
})
