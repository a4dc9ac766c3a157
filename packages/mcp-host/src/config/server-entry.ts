import * as z from 'zod'

/** The longest time that a timer can hold: about 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

const text = z.string('must be a string').refine((value) => !value.includes('\0'), {
  error: 'must not contain a NUL character',
})
const filledText = text.min(1, 'must not be empty')
const timeout = (maximum: number): z.ZodNumber =>
  z
    .number('must be a number')
    .positive('must be more than 0')
    .max(maximum, `must be at most ${maximum}`)

/** One server as it stands in the file, before variables are expanded. */
export const ServerEntry = z.object({
  type: z.literal('stdio', 'must be "stdio"').optional(),
  command: filledText,
  args: z.array(text, 'must be a list').optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), text, 'must be an object').optional(),
  cwd: filledText.optional(),
  /** Seconds. */
  timeout: timeout(Math.floor(MAX_TIMEOUT_MS / 1000)).optional(),
  timeoutMs: timeout(MAX_TIMEOUT_MS).optional(),
})
export type ServerEntry = z.infer<typeof ServerEntry>

/** What to write instead, per field. */
export const REMEDIES: Readonly<Record<string, string>> = {
  type: 'Write "stdio", or leave it out.',
  command: 'Give the program to start, as in "command": "node".',
  args: 'Give a list of strings, as in "args": ["server.ts", "--verbose"].',
  env: 'Give names (letters, digits, "_") with strings, as in "env": { "PORT": "80" }.',
  cwd: 'Give a folder, relative to this file, or leave it out for the folder of this file.',
  timeout: 'Give seconds, as in "timeout": 30.',
  timeoutMs: 'Give milliseconds, as in "timeoutMs": 30000.',
}
