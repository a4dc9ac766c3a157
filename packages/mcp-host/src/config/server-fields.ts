import { isAbsolute } from 'node:path'

import * as z from 'zod'

import { MAX_TIMER_MS } from './time-limit.ts'

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
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name'),
  text,
  'must be an object',
)

export const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name'),
    // Characters that HTTP can carry. A line break would let a value add headers.
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

const POLICIES = 'must be "no", "on-failure" or "always"'
const policy = z.enum(['no', 'on-failure', 'always'], POLICIES)
export const restart = z.strictObject(
  {
    policy,
    maxRestarts: count.exactOptional(),
    windowMs: milliseconds.exactOptional(),
  },
  'must be an object',
)
export const restartOrPolicy = z.union([policy, restart], `${POLICIES}, or an object`)

/** A field as editors and faults explain it. */
export function explained<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: unknown,
): Schema {
  return schema.meta({ description, examples: [example] })
}

/** Fields that a file and an object have in one form, whatever the type of the server. */
export const settings = {
  timeoutMs: explained(
    milliseconds.exactOptional(),
    'Milliseconds that a call may be silent; progress starts them anew.',
    30_000,
  ),
  maxTimeoutMs: explained(
    milliseconds.exactOptional(),
    'Milliseconds that a call may take, however much progress it reports.',
    300_000,
  ),
  startTimeoutMs: explained(
    milliseconds.exactOptional(),
    'Milliseconds from the start until the server has told what it offers.',
    30_000,
  ),
  stopGraceMs: explained(
    milliseconds.exactOptional(),
    'Milliseconds that the server has to stop before it is killed.',
    10_000,
  ),
  idleTimeoutMs: explained(
    milliseconds.exactOptional(),
    'For "scope": "session": milliseconds without use after which the server is stopped.',
    600_000,
  ),
  dependencies: explained(
    filledTexts.exactOptional(),
    'Names of servers that must be ready before this one starts, and that stop after it.',
    ['database'],
  ),
  healthCheck: explained(
    z
      .strictObject(
        { intervalMs: milliseconds, timeoutMs: milliseconds.exactOptional() },
        'must be an object',
      )
      .exactOptional(),
    'Pings the server at an interval; without it, health is learnt from use alone.',
    { intervalMs: 30_000, timeoutMs: 5000 },
  ),
  circuitBreaker: explained(
    z
      .strictObject(
        {
          failures: count.exactOptional(),
          windowMs: milliseconds.exactOptional(),
          openMs: milliseconds.exactOptional(),
        },
        'must be an object',
      )
      .exactOptional(),
    'After so many "failures" within "windowMs", calls are refused for "openMs"; then one may try.',
    { failures: 5, windowMs: 60_000, openMs: 60_000 },
  ),
  tools: explained(
    z
      .strictObject(
        { allow: filledTexts.exactOptional(), deny: filledTexts.exactOptional() },
        'must be an object',
      )
      .exactOptional(),
    'Which of its tools exist for callers; "*" stands for any characters, and "deny" wins.',
    { allow: ['read_*'], deny: ['read_secret'] },
  ),
  validateArguments: explained(
    z.enum(['strict', 'lenient', 'off'], 'must be "strict", "lenient" or "off"').exactOptional(),
    'How arguments of calls are checked by the schemas of the tools: "lenient" (default) refuses what is missing, of a wrong type, no choice of an enum or out of range, and sends "1" as 1 where a number is asked for; "strict" applies the whole schema, formats and unknown properties too, also to results; "off" applies none.',
    'lenient',
  ),
  maxConcurrentCalls: explained(
    count.exactOptional(),
    'Calls that the server handles at once; more of them wait.',
    16,
  ),
  protocol: explained(
    z.enum(['auto', 'legacy', 'modern'], 'must be "auto", "legacy" or "modern"').exactOptional(),
    'The era of the protocol: "modern" is 2026-07-28, "auto" (default) asks the server.',
    'auto',
  ),
  scope: explained(
    z.enum(['shared', 'session'], 'must be "shared" or "session"').exactOptional(),
    'One server for all sessions (default), or one of its own for each.',
    'shared',
  ),
  placement: explained(
    z.enum(['one', 'every'], 'must be "one" or "every"').exactOptional(),
    'On one replica of the host at a time (default for stdio), or on every one.',
    'one',
  ),
  balance: explained(
    z
      .enum(
        ['round-robin', 'weighted', 'least-in-flight', 'health-scored'],
        'must be "round-robin", "weighted", "least-in-flight" or "health-scored"',
      )
      .exactOptional(),
    'Which of the "instances" gets a request: each in turn (default; "weighted" is the same), who has the fewest, or who fails least and answers fastest. A "weight" counts in each.',
    'least-in-flight',
  ),
}
