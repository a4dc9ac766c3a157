import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { argumentViewer } from './argument-view.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const full = argumentViewer({ mode: 'full', redact: ['password', 'apiKey'] })

describe('arguments', () => {
  test('are kept as canonical JSON with its hash', () => {
    const json = '{"a":[1,null,"ü"],"b":{"x":true,"y":1e+30}}'
    const args = { b: { y: 1e30, x: true }, a: [1, null, 'ü'], c: undefined }
    expect(full(args)).toEqual({ json, hash: sha256(json) })
  })

  test('have the same hash in any order of their names', () => {
    expect(full({ a: 1, b: 2 }).hash).toBe(full({ b: 2, a: 1 }).hash)
    expect(full({ a: 1, b: 2 }).hash).not.toBe(full({ a: 1, b: 3 }).hash)
  })

  test('are redacted at any depth, however their names are written', () => {
    const args = {
      'api-key': 'k',
      list: [{ API_KEY: ['k'], keep: 'yes' }],
      password: { old: 'k', new: 'k' },
      passwords: 'no secret',
    }
    const { json = '' } = full(args)
    expect(JSON.parse(json)).toEqual({
      'api-key': '[redacted]',
      list: [{ API_KEY: '[redacted]', keep: 'yes' }],
      password: '[redacted]',
      passwords: 'no secret',
    })
  })

  test('have a hash that tells nothing of what is redacted', () => {
    expect(full({ password: 'one' }).hash).toBe(full({ password: 'other' }).hash)
  })

  test('that are longer than 16 KB are replaced by their hash and length', () => {
    const json = (length: number) => ({ text: 'x'.repeat(length - '{"text":""}'.length) })
    expect(full(json(16 * 1024)).json).toHaveLength(16 * 1024)
    const { hash, ...rest } = full(json(16 * 1024 + 1))
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(rest).toEqual({ length: 16 * 1024 + 1 })
  })

  test('with the name of a prototype are kept as any other', () => {
    const { json } = full(JSON.parse('{"__proto__":{"password":"k"}}'))
    expect(json).toBe('{"__proto__":{"password":"[redacted]"}}')
  })
})

test('the mode decides whether arguments, their hash alone or nothing is kept', () => {
  const view = (mode: 'full' | 'hash' | 'none') => argumentViewer({ mode, redact: [] })({ a: 1 })
  const hash = sha256('{"a":1}')
  expect(view('full')).toEqual({ json: '{"a":1}', hash })
  expect(view('hash')).toEqual({ hash })
  expect(view('none')).toEqual({})
})
