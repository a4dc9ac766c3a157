/** Values of other names may be ordinary words, such as a log level. */
const SECRET_NAME = /auth|token|passw|secret|credential|key|pat$/i
const MIN_SECRET_LENGTH = 4
const MIN_LENGTH = 8

/** Takes the secrets of one server out of a text. */
export type Mask = (text: string) => string

/**
 * Masks the values of a server's variables or headers wherever a text repeats them, and user names and
 * passwords in URLs, such as those of a proxy.
 */
export function maskSecrets(values: Readonly<Record<string, string>>): Mask {
  const secrets = Object.entries(values)
    .flatMap(([name, value]) => {
      const length = SECRET_NAME.test(name) ? MIN_SECRET_LENGTH : MIN_LENGTH
      // A key of several lines is printed line by line.
      return [value, ...value.split(/\r?\n/)]
        .filter((part) => part.trim().length >= length)
        .map((part) => ({ name, part: part.trim() }))
    })
    // One may be the beginning of another.
    .toSorted((one, other) => other.part.length - one.part.length)
  return (text) => {
    let masked = text
    for (const { name, part } of secrets) masked = masked.replaceAll(part, `[${name}]`)
    return masked.replaceAll(/(?<=:\/\/)[^\s/@]+@/g, '[hidden]@')
  }
}
