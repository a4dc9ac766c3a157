import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** The form of sealed values: version, id of the key, initialisation vector, tag, ciphertext. */
const VERSION = 1
const SIZES = { keyId: 4, iv: 12, tag: 16, key: 32 }
const HEAD = 1 + SIZES.keyId + SIZES.iv + SIZES.tag

/** Encrypts values with AES-256-GCM, each for one place, so that a value that is moved to another place is refused. */
export class Sealer {
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #current: string

  /** The first key seals; the others only open what they sealed. Throws `RangeError` for a key of another length. */
  constructor(keys: readonly Buffer[]) {
    const wrong = keys.find(({ length }) => length !== SIZES.key)
    if (wrong !== undefined || keys.length === 0) {
      throw new RangeError(`a key must have ${SIZES.key} bytes`)
    }
    const byId = keys.map((key) => [idOf(key), key] as const)
    this.#keys = new Map(byId)
    this.#current = byId[0]?.[0] ?? ''
  }

  /** `place`: where the value is kept, as `open` is told. */
  seal(value: string, place: string): string {
    const key = this.#keys.get(this.#current) as Buffer
    const iv = randomBytes(SIZES.iv)
    const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(this.#current, 'hex')])
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(contextOf(head, place))
    const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
    return Buffer.concat([head, iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** Throws when no key fits, or when the value was sealed for another place. */
  open(sealed: string, place: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const head = bytes.subarray(0, 1 + SIZES.keyId)
    const key = this.#keys.get(head.subarray(1).toString('hex'))
    if (bytes.length < HEAD || head[0] !== VERSION || key === undefined) {
      throw new Error('it was sealed with a key that is not in TOKEN_ENC_KEY')
    }
    const iv = bytes.subarray(head.length, head.length + SIZES.iv)
    const tag = bytes.subarray(head.length + SIZES.iv, HEAD)
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: SIZES.tag })
    decipher.setAAD(contextOf(head, place)).setAuthTag(tag)
    const text = decipher.update(bytes.subarray(HEAD))
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new Error('it was sealed for another account, or was changed', { cause })
    }
  }

  /** Whether the key of a value is there. */
  knows(sealed: string): boolean {
    return this.#keys.has(keyIdOf(sealed))
  }

  /** Whether a value was sealed with another key than the first, so that it should be sealed again. */
  isOld(sealed: string): boolean {
    return keyIdOf(sealed) !== this.#current
  }
}

function keyIdOf(sealed: string): string {
  // The beginning has it, and this is asked for each call.
  return Buffer.from(sealed.slice(0, 8), 'base64')
    .subarray(1, 1 + SIZES.keyId)
    .toString('hex')
}

function contextOf(head: Buffer, place: string): Buffer {
  return Buffer.concat([head, Buffer.from(place)])
}

/** Tells keys apart without saying anything about them. */
function idOf(key: Buffer): string {
  return createHash('sha256')
    .update('mcp-host key id')
    .update(key)
    .digest('hex')
    .slice(0, 2 * SIZES.keyId)
}
