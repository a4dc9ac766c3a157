import * as contracts from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { MAX_MESSAGE_LENGTH } from './max-message-length.ts'

test('the limit for a message is that of the host', () => {
  expect(MAX_MESSAGE_LENGTH).toBe(contracts.MAX_MESSAGE_LENGTH)
})
