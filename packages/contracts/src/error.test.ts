import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BusError, ErrorCode, ErrorInfo, parseInput } from './error.ts'

test.each(ErrorCode.options)('the code %s decides whether an error is retryable', (code) => {
  const retryable = ['conflict', 'exhausted', 'deadline', 'unavailable'].includes(code)
  expect(new BusError(code, 'no').retryable).toBe(retryable)
})

describe('error information', () => {
  test('error information has the code, the message and the field', () => {
    const info = new BusError('invalid', 'too long', { field: 'text' }).toInfo()
    expect(info).toEqual({ code: 'invalid', message: 'too long', field: 'text' })
    expect(ErrorInfo.parse(info)).toEqual(info)
  })

  test('error information has no field when no field is at fault', () => {
    expect(Object.keys(new BusError('denied', 'no').toInfo())).toEqual(['code', 'message'])
  })

  test('error information does not contain an unexpected cause, which is kept for the log', () => {
    const cause = new Error('connect to db://user:password@host failed')
    const error = BusError.from(cause)
    expect(error.toInfo()).toEqual({ code: 'internal', message: 'internal error' })
    expect(error.cause).toBe(cause)
  })
})

test('a bus error is not converted again', () => {
  const error = new BusError('conflict', 'lost')
  expect(BusError.from(error)).toBe(error)
})

describe('a value that zod refuses', () => {
  const refuse = (value: unknown): BusError => {
    const { error } = z.object({ payload: z.object({ text: z.string() }) }).safeParse(value)
    if (error === undefined) throw new Error('was not refused')
    return BusError.fromZod(error, 'frame')
  }

  test('a value that zod refuses is an invalid error with the field', () => {
    const error = refuse({ payload: { text: 5 } })
    expect(error).toMatchObject({ code: 'invalid', field: 'payload.text' })
    expect(error.message).toMatch(/^frame: payload\.text: /)
  })

  test('a value that zod refuses as a whole is an invalid error without a field', () => {
    expect(refuse(5).message).toMatch(/^frame: Invalid input/)
  })
})

test.each([
  ['has a length that cannot be compared', { length: { toString: '' } }],
  ['is a number', 5],
])('a value that %s is refused as an invalid string', (_, value) => {
  const refusal = expect.objectContaining({ name: 'BusError', code: 'invalid' })
  expect(() => parseInput(z.string().max(3), value, 'body')).toThrow(refusal)
})

test('an abort is converted to the code cancelled with its cause', () => {
  const abort = AbortSignal.abort().reason as Error
  expect(BusError.from(abort)).toMatchObject({ code: 'cancelled', cause: abort })
})
