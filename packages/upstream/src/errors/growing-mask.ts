import { type Mask, maskSecrets } from './mask-secrets.ts'

/** The number of remembered secrets: an older token is not used any more. */
const MAX_ADDED = 8

/** A mask to which secrets are added, such as tokens that are renewed while a server runs. */
export class GrowingMask {
  readonly #first: Mask
  readonly #added = new Map<string, Mask>()

  constructor(first: Mask) {
    this.#first = first
  }

  readonly mask: Mask = (text) => {
    let masked = this.#first(text)
    for (const mask of this.#added.values()) masked = mask(masked)
    return masked
  }

  add(name: string, secret: string): void {
    this.#added.delete(secret)
    this.#added.set(secret, maskSecrets({ [name]: secret }))
    const [oldest] = this.#added.keys()
    if (oldest !== undefined && this.#added.size > MAX_ADDED) this.#added.delete(oldest)
  }
}
