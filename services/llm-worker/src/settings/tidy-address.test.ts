import { expect, test } from 'vitest'
import { tidyAddress } from './tidy-address.ts'

test.each([
  ['http://host/v1', 'http://host/v1'],
  ['http://host/v1/', 'http://host/v1'],
  ['http://host//', 'http://host'],
  ['http://host/v1/chat/completions', 'http://host/v1'],
  ['http://host/v1/chat/completions/', 'http://host/v1'],
  ['https://host/api/v1/models', 'https://host/api/v1'],
  ['https://host/v1/responses', 'https://host/v1'],
  ['https://host/v1/messages', 'https://host/v1'],
  ['http://host:11434/api', 'http://host:11434'],
  ['http://host:11434/api/chat', 'http://host:11434'],
  ['localhost:11434', 'http://localhost:11434'],
])('the address %s is read as %s', (written, read) => {
  expect(tidyAddress(written)).toBe(read)
})
