import { z } from 'zod'

/** C0 and C1 controls except tab, line feed and carriage return. */
// eslint-disable-next-line no-control-regex -- control characters are what it is for
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g

/** Longest user message, in UTF-16 units. */
export const MAX_MESSAGE_LENGTH = 128 * 1024

/** What the user says. Control characters are removed, broken surrogates replaced. */
export const MessageUp = z.object({
  type: z.literal('message'),
  payload: z.object({
    text: z
      .string()
      .max(MAX_MESSAGE_LENGTH, `must not be longer than ${MAX_MESSAGE_LENGTH} characters`)
      .transform((text) => text.replaceAll(CONTROLS, '').toWellFormed())
      .refine((text) => text.trim() !== '', 'must not be empty'),
    /** The client's own id; a message sent again with the same id is taken once. */
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"')
      .optional(),
  }),
})

/** For clients that cannot send protocol pings (browsers): answered with `pong` at once. */
export const PingUp = z.object({ type: z.literal('ping') })

/** Every frame a client may send. */
export const Up = z.discriminatedUnion('type', [MessageUp, PingUp], {
  error: (issue) =>
    issue.code === 'invalid_union' ? 'must be one of "message", "ping"' : undefined,
})
export type Up = z.infer<typeof Up>
