import { describe, expect, test } from 'vitest'
import { fillSubject, matchSubject } from './subject.ts'

const template = 's.{shard}.{session}.in.msg'

describe('a subject', () => {
  test('a subject is its template with all parameters filled in', () => {
    expect(fillSubject(template, { shard: '7', session: 'abc_-9' })).toBe('s.7.abc_-9.in.msg')
    expect(fillSubject('llm.gen', {})).toBe('llm.gen')
  })

  test.each([
    ['a dot', 'a.b'],
    ['a wildcard', '*'],
    ['a wildcard for the rest', '>'],
    ['a space', 'a b'],
    ['a line break', 'a\r\nPUB'],
    ['an empty string', ''],
  ])('a subject is refused when a value is %s, which could widen it', (_, session) => {
    const fill = () => fillSubject(template, { shard: '7', session })
    expect(fill).toThrow(TypeError)
    expect(fill).toThrow('session must match')
  })

  test('a subject is refused when a value is missing', () => {
    const params = { shard: '7' } as { shard: string; session: string }
    expect(() => fillSubject(template, params)).toThrow('session must match')
  })
})

describe('a match', () => {
  test('a match returns the parameters that filled the template', () => {
    const params = { shard: '63', session: 'abc' }
    expect(matchSubject(template, fillSubject(template, params))).toEqual(params)
  })

  test.each([
    ['is shorter', 's.1.abc.in'],
    ['is longer', 's.1.abc.in.msg.more'],
    ['differs in a fixed token', 's.1.abc.in.ctl'],
  ])('a subject that %s does not match', (_, subject) => {
    expect(matchSubject(template, subject)).toBeUndefined()
  })
})
