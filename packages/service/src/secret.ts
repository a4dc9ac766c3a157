/** Shorter secrets are not masked, since they may be parts of ordinary words. */
const MIN_LENGTH = 8

/** The secrets to mask. They stay registered, since a replaced key is a secret, too. */
const secrets = new Set<string>()

/** A value that prints as `[secret]` everywhere. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
    if (value.length >= MIN_LENGTH) secrets.add(value)
  }

  /** The value itself. Never log or send what this returns. */
  open(): string {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

/** Masks all secrets in a text, since answers of other programs may repeat them. */
export function withoutSecrets(text: string): string {
  let clean = text
  // The longest first, since a secret may begin with another.
  for (const secret of Array.from(secrets).toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(secret, '[secret]')
  }
  return clean
}
