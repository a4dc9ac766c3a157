/**
 * Names of variables whose values are always masked. Values of other variables may be ordinary, such as a log level,
 * and are masked from `MIN_LENGTH` on.
 */
const SECRET_NAME = /auth|token|pass|secret|credential|key|pat$/i
const MIN_SECRET_LENGTH = 4
const MIN_LENGTH = 8

/** Common values, which are not masked, since errors would become unreadable. */
const ORDINARY =
  /^(?:\d+|localhost|127\.0\.0\.1|development|production|undefined|disabled|[a-z]+\/(?:json|xml|plain|event-stream))$/i
/** An absolute path, which is not masked, since errors have to name files. */
const PATH = /^(?:[a-z]:)?[\\/](?:[\w.@ -]+[\\/])+[\w.@ -]*$/i
const SCHEME = /^(?:Basic|Bearer|Token)\s+/i

/** The depth to which JSON is masked, far beyond the limit of messages; deeper values are dropped. */
const MAX_DEPTH = 1_000
const MAX_CAUSES = 5
const HIDDEN = '[hidden]'

/** Masks the secrets of one server in a text. */
export type Mask = (text: string) => string

/**
 * Masks the values of a server's variables or headers, plain or encoded, and user names and passwords in URLs, such as
 * those of a proxy. `shown`: what errors have to name, such as the program; a value in it is masked only when its name
 * is that of a secret.
 */
export function maskSecrets(values: Readonly<Record<string, string>>, shown = ''): Mask {
  const secrets = Object.entries(values)
    .flatMap(([name, value]) => {
      const isNamed = SECRET_NAME.test(name)
      const length = isNamed ? MIN_SECRET_LENGTH : MIN_LENGTH
      // A key of several lines may be printed line by line, and a header without its scheme.
      return [value, ...value.split(/\r?\n/), value.replace(SCHEME, '')]
        .map((part) => part.trim())
        .filter((part) => part.length >= length)
        .filter((part) => isNamed || (!isOrdinary(part) && !shown.includes(part)))
        .flatMap(encodings)
        .map((part) => ({ name, part }))
    })
    // The longest first, since a secret may begin with another.
    .toSorted((one, other) => other.part.length - one.part.length)
  return (text) => {
    let masked = text
    for (const { name, part } of secrets) masked = masked.replaceAll(part, `[${name}]`)
    return masked.replaceAll(/(?<=:\/\/)[^\s/@]+@/g, `${HIDDEN}@`)
  }
}

/**
 * A secret and its encoded forms: base64, base64url, percent-encoded and escaped for JSON; a longer one also in hexadecimal,
 * in upper and lower case, and in base64 within other bytes.
 */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // A lone surrogate cannot be percent-encoded.
  const percent = encodeURIComponent(secret.toWellFormed())
  const forms = [
    secret,
    ...inBase64(bytes, 0),
    percent,
    percent.replaceAll(/%../g, (code) => code.toLowerCase()),
    JSON.stringify(secret).slice(1, -1),
  ]
  if (secret.length >= MIN_LENGTH) {
    const hex = bytes.toString('hex')
    forms.push(secret.toUpperCase(), secret.toLowerCase(), hex, hex.toUpperCase())
    forms.push(...inBase64(bytes, 1), ...inBase64(bytes, 2))
  }
  return Array.from(new Set(forms))
}

/** The characters of base64 that depend only on these bytes, when `before` others stand before them. */
function inBase64(bytes: Uint8Array, before: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
  const begin = Math.ceil((before * 8) / 6)
  const end = Math.floor((padded.length * 8) / 6)
  return [
    padded.toString('base64').slice(begin, end),
    padded.toString('base64url').slice(begin, end),
  ]
}

function isOrdinary(value: string): boolean {
  return ORDINARY.test(value) || PATH.test(value)
}

/** A copy of a JSON value with all its texts masked. */
export function maskJson(value: unknown, mask: Mask, depth = 0): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return HIDDEN
  if (Array.isArray(value)) return value.map((item) => maskJson(item, mask, depth + 1))
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    mask(key),
    maskJson(item, mask, depth + 1),
  ])
  return Object.fromEntries(entries)
}

/**
 * Masks an error, its causes and their fields in place, since other code may hold the error already. Returns the error.
 */
export function maskError<Failure>(error: Failure, mask: Mask): Failure {
  let each: unknown = error
  for (let causes = 0; each instanceof Error && causes < MAX_CAUSES; causes += 1) {
    maskFields(each, mask)
    each = each instanceof AggregateError ? each.errors[0] : each.cause
  }
  return error
}

function maskFields(error: Error, mask: Mask): void {
  const { message, stack } = error
  const masked = mask(message)
  if (masked !== message) {
    setField(error, 'message', masked)
    // The stack begins with the message.
    if (stack !== undefined) setField(error, 'stack', mask(stack))
  }
  for (const [field, value] of Object.entries(error)) {
    if (typeof value === 'string' || isPlain(value)) setField(error, field, maskJson(value, mask))
  }
}

/** Defines a field, since assignment fails for a read-only one. */
function setField(error: Error, field: string, value: unknown): void {
  const enumerable = Object.prototype.propertyIsEnumerable.call(error, field)
  Reflect.defineProperty(error, field, { value, enumerable, configurable: true, writable: true })
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
}
