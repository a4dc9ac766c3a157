import { expect, test } from 'vitest'

import { maskSecrets } from './mask-secrets.ts'

test('a value of the environment is shown by its name', () => {
  const mask = maskSecrets({ API_KEY: 'k-12', DATA: 'postgres-data' })
  expect(mask('k-12 opens postgres-data')).toBe('[API_KEY] opens [DATA]')
})

test('the whole of a secret is masked when another one is its beginning', () => {
  const mask = maskSecrets({ ONE: 'abcdefgh', OTHER: 'abcdefghijkl' })
  expect(mask('abcdefghijkl')).toBe('[OTHER]')
})

test('short values of ordinary variables stay readable', () => {
  expect(maskSecrets({ LOG_LEVEL: 'debug', PORT: '8080' })('debug: port 8080')).toBe(
    'debug: port 8080',
  )
})

test('each line of a secret of several lines is masked', () => {
  const mask = maskSecrets({ PEM: '-----BEGIN-----\nAAAABBBB\n-----END-----\n' })
  expect(mask('read AAAABBBB')).toBe('read [PEM]')
})

test('the user and the password of a URL are masked', () => {
  expect(maskSecrets({})('via http://me:pass@proxy:3128/x')).toBe(
    'via http://[hidden]@proxy:3128/x',
  )
})
