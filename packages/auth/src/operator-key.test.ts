import { LOCAL } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { parseApiKey, principalOfKey } from './api-key.ts'
import {
  newOperatorKey,
  OPERATOR_KEY,
  operatorKeyRecord,
  operatorKeySetting,
} from './operator-key.ts'

test('a gateway knows the key of its operator by its setting, and no other secret', () => {
  const key = newOperatorKey()
  const setting = operatorKeySetting(key)
  expect(setting).toMatch(OPERATOR_KEY)
  const { id, secret = '' } = parseApiKey(key) ?? {}
  expect(setting).not.toContain(secret)
  const { record, ...known } = operatorKeyRecord(setting)
  expect(known.id).toBe(id)
  expect(principalOfKey(record, secret, Date.now())).toEqual({ ...LOCAL, method: 'key' })
  expect(principalOfKey(record, `${secret}0`, Date.now())).toBeUndefined()
})

test('a text that is no API key has no setting', () => {
  expect(() => operatorKeySetting('mh_1_2')).toThrow('not an API key')
})
