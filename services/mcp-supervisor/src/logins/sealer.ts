import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** The form of sealed values: version, id of the key, initialisation vector, tag, ciphertext. */
const VERSION = 1
const SIZES = { keyId: 4, iv: 12, tag: 16, key: 32 }
const HEAD = 1 + SIZES.keyId + SIZES.iv + SIZES.tag

/** Encrypts values with AES-256-GCM, each for one place, so that a value that is moved to another place is refused. */
export class Sealer {
  readonly #keys: ReadonlyMap<string, Buffer>
  /** The key that seals, and its id. */
  readonly #key: Buffer
  readonly #current: string

  /** The first key seals; the others only open what they sealed. Throws `RangeError` for a key of another length. */
  constructor(keys: readonly Buffer[]) {
    const [first] = keys
    if (first === undefined || keys.some(({ length }) => length !== SIZES.key)) {
      throw new RangeError(`a key must have ${SIZES.key} bytes`)
    }
    this.#keys = new Map(keys.map((key) => [idOf(key), key]))
    this.#key = first
    this.#current = idOf(first)
  }

  /** Seals a JSON value. `place`: where it is kept, as `open` is told. */
  seal(value: unknown, place: string): string {
    const iv = randomBytes(SIZES.iv)
    const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(this.#current, 'hex')])
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(contextOf(head, place))
    const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
    return Buffer.concat([head, iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** The JSON value; `undefined` when its key is gone. Throws when it was sealed for another place. */
  open(sealed: string, place: string): unknown {
    const key = this.#keys.get(keyIdOf(sealed))
    if (key === undefined) return undefined
    const bytes = Buffer.from(sealed, 'base64')
    const head = bytes.subarray(0, 1 + SIZES.keyId)
    if (bytes.length < HEAD || head[0] !== VERSION) throw new Error('it is no sealed value')
    const iv = bytes.subarray(head.length, head.length + SIZES.iv)
    const tag = bytes.subarray(head.length + SIZES.iv, HEAD)
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: SIZES.tag })
    decipher.setAAD(contextOf(head, place)).setAuthTag(tag)
    const text = decipher.update(bytes.subarray(HEAD))
    try {
      return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'))
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
