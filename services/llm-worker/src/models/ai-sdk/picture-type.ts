/** The first bytes, in hexadecimal, of the types of pictures that all providers with pictures read. */
const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
]

/** The type of a picture (base64) by its first bytes; `undefined` for other data. */
export function pictureType(data: string): string | undefined {
  const begin = Buffer.from(data.slice(0, 32), 'base64').toString('hex')
  return SIGNATURES.find(([, pattern]) => pattern.test(begin))?.[0]
}
