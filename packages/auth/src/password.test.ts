import { describe, expect, test } from 'vitest'
import { hashPassword, isPassword, passwordFault } from './password.ts'

describe('a password', () => {
  test('is stored as a hash with its own salt and cost', async () => {
    const hashes = await Promise.all([1, 2].map(() => hashPassword('correct horse')))
    const [first, second] = hashes
    expect(first).toMatch(/^scrypt\$32768\$8\$3\$/)
    expect(first).not.toBe(second)
    expect(first).not.toContain('horse')
  })

  test('is known again, also in another form of Unicode', async () => {
    const stored = await hashPassword('caf\u00e9 and bread')
    expect(await isPassword('caf\u00e9 and bread', stored)).toBe(true)
    expect(await isPassword('cafe\u0301 and bread', stored)).toBe(true)
    expect(await isPassword('cafe and bread', stored)).toBe(false)
  })

  test('is never that of an account without one, or of a faulty record', async () => {
    expect(await isPassword('', undefined)).toBe(false)
    expect(await isPassword('', 'scrypt$32768$8$3$AAAA$')).toBe(false)
  })

  test('is hashed for an unknown account, too, so that the time tells nothing', async () => {
    let isDone = false
    const check = isPassword('anything', undefined).then(() => (isDone = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isDone).toBe(false)
    await check
  })

  test('that many requests send at once is refused from some number on', async () => {
    // Of low cost.
    const stored = `scrypt$16$1$1$AAAA$${Buffer.alloc(32).toString('base64url')}`
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => isPassword('x', stored)))
    const refused = all.filter(({ status }) => status === 'rejected')
    expect(refused.map((each) => (each as PromiseRejectedResult).reason)).toEqual(
      Array.from({ length: 8 }, () => expect.objectContaining({ code: 'exhausted' })),
    )
    expect(await isPassword('x', stored)).toBe(false)
  })

  test.each([
    ['short', 'at least 10'],
    ['x'.repeat(201), 'at most 200'],
    ['aaaaaaaaaaaa', '4 different'],
    ['my-Ann-password', 'name of the account'],
  ])('%s is refused with the reason', (password, reason) => {
    expect(passwordFault(password, 'ann')).toContain(reason)
    expect(passwordFault('correct horse', 'ann')).toBeUndefined()
  })
})
