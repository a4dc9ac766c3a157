/** Shorter ones are part of ordinary words. */
const MIN_LENGTH = 8

/** All that were ever made: an old key is a secret, too. */
const secrets = new Set<string>()

/** A value that must not be seen: prints as `[secret]` everywhere. */
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

/** The text without any secret: others may repeat in their answers what they were sent. */
export function withoutSecrets(text: string): string {
  let clean = text
  // One may be the beginning of another.
  for (const secret of Array.from(secrets).toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(secret, '[secret]')
  }
  return clean
}
