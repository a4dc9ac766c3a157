import type { ScryptOptions } from 'node:crypto'
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { BusError } from '@mcp-host/contracts'

/** The cost of scrypt: 32 MB and about 0.1 s for each password, which makes guessing from a stolen record expensive. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32
const FORMAT = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/

/** Limit for concurrent hashes in one process. Others wait, up to a second limit. */
const MAX_RUNNING = 2
const MAX_WAITING = 30

export const MIN_PASSWORD_LENGTH = 10
export const MAX_PASSWORD_LENGTH = 200

/** The fault of a new password; `undefined` when it may be used. */
export function passwordFault(password: string, name: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH) {
    return `must have at least ${MIN_PASSWORD_LENGTH} characters`
  }
  if (password.length > MAX_PASSWORD_LENGTH) {
    return `must have at most ${MAX_PASSWORD_LENGTH} characters`
  }
  if (name !== '' && password.toLowerCase().includes(name)) {
    return 'must not contain the name of the account'
  }
  return new Set(password).size < 4 ? 'must have at least 4 different characters' : undefined
}

/** The hash of a password with its salt and cost. Throws `exhausted` when too many are being hashed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, COST)
  const { N, r, p } = COST
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Whether a password belongs to a hash. Without a hash the result is `false` after the same time, so that the time does
 * not reveal which accounts exist. Throws `exhausted` when too many are being hashed.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, hash] = FORMAT.exec(stored ?? '') ?? []
  const expected = Buffer.from(hash ?? '', 'base64url')
  if (salt === undefined || expected.length !== HASH_BYTES) {
    await derive(password, Buffer.alloc(SALT_BYTES), COST)
    return false
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'base64url'), cost), expected)
}

let running = 0
const waiting: (() => void)[] = []

async function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING) {
      throw new BusError('exhausted', 'too many logins at the same time; try again in a moment')
    }
    // A hash that ends hands its slot to this one, so `running` does not change.
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running += 1
  try {
    const maxmem = 256 * (cost.N ?? 0) * (cost.r ?? 0)
    // Unicode has several forms of the same text.
    const text = password.normalize('NFKC')
    return await new Promise((resolve, reject) => {
      scrypt(text, salt, HASH_BYTES, { ...cost, maxmem }, (error, key) => {
        if (error === null) resolve(key)
        else reject(error)
      })
    })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}
