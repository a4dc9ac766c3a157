import { CONTRACTS } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { partnerName } from './partner-name.ts'

test('every contract with an answer has a partner with a name', () => {
  const answered = Object.values(CONTRACTS).filter(({ kind }) => kind !== 'event')
  const unnamed = answered.filter(({ subject }) => partnerName(subject) === 'service')
  expect(unnamed).toEqual([])
})
