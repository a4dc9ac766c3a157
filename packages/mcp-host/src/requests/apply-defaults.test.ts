import type { ElicitRequestParams } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'

import { applyDefaults } from './apply-defaults.ts'

const form: ElicitRequestParams = {
  message: 'Who?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', default: 0 },
      isWell: { type: 'boolean', default: false },
    },
  },
}

test('what an accepted form left out is filled, what it says stays', () => {
  expect(applyDefaults(form, { action: 'accept', content: { age: 5 } })).toEqual({
    action: 'accept',
    content: { age: 5, isWell: false },
  })
  expect(applyDefaults(form, { action: 'accept' })).toEqual({
    action: 'accept',
    content: { age: 0, isWell: false },
  })
})

test('what was not accepted, is no form, or is no answer stays as it is', () => {
  expect(applyDefaults(form, { action: 'decline' })).toEqual({ action: 'decline' })
  expect(applyDefaults(form, undefined)).toBeUndefined()
  const page: ElicitRequestParams = {
    mode: 'url',
    message: 'Go there',
    url: 'https://example.org',
    elicitationId: '1',
  }
  expect(applyDefaults(page, { action: 'accept' })).toEqual({ action: 'accept' })
})
