import { isAbsolute } from 'node:path'

import * as z from 'zod'

import { MAX_TIMER_MS } from '@mcp-host/async'

export const text = z.string('must be a string').refine((value) => !value.includes('\0'), {
  error: 'must not contain a NUL character',
})
export const filledText = text.min(1, 'must not be empty')
export const absolutePath = filledText.refine(isAbsolute, { error: 'must be an absolute path' })

export const positive = z.number('must be a number').positive('must be more than 0')
const count = z.int('must be a whole number').positive('must be more than 0')
const timer = (maximum: number): z.ZodNumber => positive.max(maximum, `must be at most ${maximum}`)
export const milliseconds = timer(MAX_TIMER_MS)
export const seconds = timer(Math.floor(MAX_TIMER_MS / 1000))

export const texts = z.array(text, 'must be a list')
export const filledTexts = z.array(filledText, 'must be a list')

export const variables = z.record(
  // Programs read names such as `ProgramFiles(x86)` and `my.key`, too.
  z.string().regex(/^[^=\0]+$/, 'is not a valid variable name'),
  text,
  'must be an object',
)

export const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name'),
    // Only characters that an HTTP header value may have: a line break would add a header.
    text.regex(/^[\t\u0020-\u007E\u0080-\u00FF]*$/, 'has characters that a header cannot have'),
    'must be an object',
  )
  .superRefine((values, context) => {
    const seen = new Set<string>()
    for (const name of Object.keys(values)) {
      const message = 'is there twice: upper and lower case are one in the name of a header'
      if (seen.has(name.toLowerCase())) {
        context.addIssue({ code: 'custom', path: [name], message })
      }
      seen.add(name.toLowerCase())
    }
  })

/** The address of a remote server; `schemes` without the colon. */
export function address(schemes: readonly [string, string]): z.ZodString {
  return filledText.superRefine((value, context) => {
    const message = addressFault(value, schemes)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
}

function addressFault(value: string, schemes: readonly [string, string]): string | undefined {
  if (!URL.canParse(value)) return 'is not a valid URL'
  const { protocol, username, password } = new URL(value)
  if (!schemes.includes(protocol.slice(0, -1))) {
    return `must start with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  }
  if (username === '' && password === '') return undefined
  return 'must not contain a user name or password: put them into "headers"'
}

export const fileUri = filledText.refine(isFileUri, { error: 'must be a file:// URI' })

/** Whether a value is the URI of a folder on this machine. */
export function isFileUri(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, host } = new URL(value)
  return protocol === 'file:' && host === ''
}

const POLICIES = ['no', 'on-failure', 'always'] as const
const policy = choice(...POLICIES)
export const restart = fields({
  policy,
  maxRestarts: count.exactOptional(),
  windowMs: milliseconds.exactOptional(),
})
export const restartOrPolicy = z.union([policy, restart], `${mustBe(POLICIES)}, or an object`)

/** One of several words. */
export function choice<const Words extends readonly string[]>(...words: Words) {
  return z.enum(words, mustBe(words))
}

function mustBe(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`)
  return `must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

const SANDBOXES = ['none', 'uid', 'bwrap'] as const
const sandboxKind = choice(...SANDBOXES)
/** `path`: the schema of the `roots`. */
export function sandboxFields(path: z.ZodString) {
  return fields({
    kind: sandboxKind.exactOptional(),
    network: z.boolean('must be true or false').exactOptional(),
    roots: z.array(path, 'must be a list').exactOptional(),
  })
}
export const sandboxOrKind = z.union(
  [sandboxKind, sandboxFields(filledText)],
  `${mustBe(SANDBOXES)}, or an object`,
)
export const SANDBOX_DESCRIPTION =
  'How the program is separated from the host and other servers: "bwrap" runs it in namespaces of bubblewrap, where it sees neither other processes nor files of the host; "uid" runs it as a user of its own, where the host is root; "none" lets it do what the user of the host can do. Default: the strongest that the machine offers. An object may also take the network away, and name the only "roots" that the program can change: files and folders, relative to this file.'
export const SANDBOX_EXAMPLE = { kind: 'bwrap', network: false, roots: ['./documents'] }

/** An object without further fields. */
export function fields<const Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, 'must be an object')
}

/** Adds a description and an example to a field, for editors and error messages. */
export function explained<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: unknown,
): Schema {
  return schema.meta({ description, examples: [example] })
}

/** An explained field that may be missing. */
export function optional<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: unknown,
): z.ZodExactOptional<Schema> {
  return explained(schema.exactOptional(), description, example)
}

/** Settings of every type of server, with the same form in a file and in an object. */
export const settings = {
  timeoutMs: optional(
    milliseconds,
    'Milliseconds that a call may be silent; progress starts them anew.',
    30_000,
  ),
  maxTimeoutMs: optional(
    milliseconds,
    'Milliseconds that a call may take, however much progress it reports.',
    300_000,
  ),
  startTimeoutMs: optional(
    milliseconds,
    'Milliseconds from the start until the server has told what it offers.',
    30_000,
  ),
  stopGraceMs: optional(
    milliseconds,
    'Milliseconds that the server has to stop before it is killed.',
    10_000,
  ),
  idleTimeoutMs: optional(
    milliseconds,
    'For "scope": "session": milliseconds without use after which the server is stopped.',
    600_000,
  ),
  dependencies: optional(
    filledTexts,
    'Names of servers that must be ready before this one starts, and that stop after it.',
    ['database'],
  ),
  healthCheck: optional(
    fields({ intervalMs: milliseconds, timeoutMs: milliseconds.exactOptional() }),
    'Pings the server at an interval; without it, health is learnt from use alone.',
    { intervalMs: 30_000, timeoutMs: 5000 },
  ),
  circuitBreaker: optional(
    fields({
      failures: count.exactOptional(),
      windowMs: milliseconds.exactOptional(),
      openMs: milliseconds.exactOptional(),
    }),
    'After so many "failures" within "windowMs", calls are refused for "openMs"; then one may try.',
    { failures: 5, windowMs: 60_000, openMs: 60_000 },
  ),
  tools: optional(
    fields({ allow: filledTexts.exactOptional(), deny: filledTexts.exactOptional() }),
    'Which of its tools exist for callers; "*" stands for any characters, and "deny" wins.',
    { allow: ['read_*'], deny: ['read_secret'] },
  ),
  validateArguments: optional(
    choice('strict', 'lenient', 'off'),
    'How arguments of calls are checked by the schemas of the tools: "lenient" (default) refuses what is missing, of a wrong type, no choice of an enum or out of range, and sends "1" as 1 where a number is asked for; "strict" applies the whole schema, formats and unknown properties too, also to results; "off" applies none.',
    'lenient',
  ),
  maxConcurrentCalls: optional(
    count,
    'Calls that the server handles at once; more of them wait.',
    16,
  ),
  protocol: optional(
    choice('auto', 'legacy', 'modern'),
    'The era of the protocol: "modern" is 2026-07-28, "auto" (default) asks the server.',
    'auto',
  ),
  scope: optional(
    choice('shared', 'session'),
    'One server for all sessions (default), or one of its own for each.',
    'shared',
  ),
  placement: optional(
    choice('one', 'every'),
    'On one replica of the host at a time (default for stdio), or on every one.',
    'one',
  ),
  balance: optional(
    choice('round-robin', 'weighted', 'least-in-flight', 'health-scored'),
    'Which of the "instances" gets a request: each in turn (default; "weighted" is the same), who has the fewest, or who fails least and answers fastest. A "weight" counts in each.',
    'least-in-flight',
  ),
}

/** A field without a meaning in this host. */
export const foreign = z
  .unknown()
  .optional()
  .meta({ description: 'For other programs; has no meaning here.' })

/** A function, which no file can have. */
export const functionOfCode = <Function>() =>
  z.custom<Function>(
    (value) => typeof value === 'function',
    'must be a function, which only the code of an application can give',
  )
