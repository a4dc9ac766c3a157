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

test('an accepted form gets its defaults for the fields that it leaves out', () => {
  expect(applyDefaults(form, { action: 'accept', content: { age: 5 } })).toEqual({
    action: 'accept',
    content: { age: 5, isWell: false },
  })
  expect(applyDefaults(form, { action: 'accept' })).toEqual({
    action: 'accept',
    content: { age: 0, isWell: false },
  })
})

test('a declined request, a request without a form, and no answer are unchanged', () => {
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
