import { fromBase64Url, toBase64Url } from './base64-url.ts'
import type { Params } from './json-rpc.ts'
import { isObject, toHex } from '@mcp-host/json'

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const PREFIX = 'mcp-host-sealed'
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }
const bytes = new TextEncoder()

/** Signs state that clients keep and send back. They can read it. */
export class StateSeal {
  readonly #secret: () => Promise<Uint8Array>
  #key: Promise<Key> | undefined

  /** `secret`: reads the secret that all gateways share. Called once, at the first use. */
  constructor(secret: () => Promise<Uint8Array>) {
    this.#secret = secret
  }

  async seal(content: Params): Promise<string> {
    const text = `${PREFIX}.${toBase64Url(JSON.stringify(content))}`
    const signature = await crypto.subtle.sign(ALGORITHM, await this.#readKey(), bytes.encode(text))
    return `${text}.${toHex(signature)}`
  }

  /** `undefined`: this host has not sealed it. */
  async open(sealed: unknown): Promise<Params | undefined> {
    if (typeof sealed !== 'string') return undefined
    const [prefix, encoded, signature, ...more] = sealed.split('.')
    if (prefix !== PREFIX || encoded === undefined || signature === undefined) return undefined
    const data = bytes.encode(`${prefix}.${encoded}`)
    const key = await this.#readKey()
    const isOurs =
      more.length === 0 && (await crypto.subtle.verify(ALGORITHM, key, fromHex(signature), data))
    if (!isOurs) return undefined
    const content: unknown = JSON.parse(fromBase64Url(encoded))
    return isObject(content) ? content : undefined
  }

  #readKey(): Promise<Key> {
    this.#key ??= this.#importKey().catch((error: unknown) => {
      this.#key = undefined
      throw error
    })
    return this.#key
  }

  async #importKey(): Promise<Key> {
    const secret = Uint8Array.from(await this.#secret())
    return crypto.subtle.importKey('raw', secret, ALGORITHM, false, ['sign', 'verify'])
  }
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
