import { z } from 'zod'
import { InputAnswered } from '../session/control.ts'

/** C0 and C1 controls except tab, line feed and carriage return. */
// eslint-disable-next-line no-control-regex -- control characters are what it is for
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g

/** Longest user message, in UTF-16 units. */
export const MAX_MESSAGE_LENGTH = 128 * 1024

const clean = (text: string): string => text.replaceAll(CONTROLS, '').toWellFormed()

const Text = z
  .string()
  .max(MAX_MESSAGE_LENGTH, `must not be longer than ${MAX_MESSAGE_LENGTH} characters`)
  .transform(clean)

const MessageId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"')

/** A model by its provider, or by both. */
export const ModelReference = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,64}(\/(?!.*\.\.)[A-Za-z0-9._:@+/-]{1,200})?$/,
    'must be "provider/model" or "provider"',
  )

/** Most that may come with one message. */
const MAX_ATTACHMENTS = 16

/** Keys of what was stored by `POST /api/chat/session/{id}/file`. */
const AttachmentKeys = z
  .array(
    z.string().regex(/^[A-Za-z0-9_-]{16,64}\.[0-9a-f-]{36}$/, 'must be the key of an attachment'),
  )
  .max(MAX_ATTACHMENTS, `must not be more than ${MAX_ATTACHMENTS}`)

/** A message of the user. Control characters are removed, lone surrogates replaced. */
export const MessageUp = z.object({
  type: z.literal('message'),
  payload: z.object({
    text: Text.refine((text) => text.trim() !== '', 'must not be empty'),
    /** The client's own id; a message sent again with the same id is taken once. */
    id: MessageId.optional(),
    /** Id of the message to be said differently: another branch begins in its place. */
    replaces: MessageId.optional(),
    /** The model, as `provider/model` or `provider`. */
    model: ModelReference.optional(),
    /** Keys of files that were stored before. */
    attachments: AttachmentKeys.optional(),
  }),
})

/** Answers a message once more, on another branch. */
export const RegenerateUp = z.object({
  type: z.literal('regenerate'),
  payload: z.object({
    /** The message's id. */
    messageId: MessageId,
    /** The new message's own id, as with `message`. */
    id: MessageId.optional(),
    /** The model for this answer, as with `message`. */
    model: ModelReference.optional(),
  }),
})

/** Ends a turn, or withdraws a message whose turn has not begun. */
export const CancelUp = z.object({
  type: z.literal('cancel'),
  payload: z
    .object({
      /** The message's id; without it the turn that runs. */
      messageId: MessageId.optional(),
    })
    .default({}),
})

/** The answer to a question, which came as `input`. The first one counts. */
export const AnswerUp = z.object({
  type: z.literal('answer'),
  payload: z.object({
    /** The question's id. */
    id: z.string().min(1).max(64),
    action: InputAnswered.shape.action,
    /** With `accept`: what the user filled in, by the fields' names. */
    content: z
      .record(z.string(), z.union([Text, z.number(), z.boolean(), z.array(Text)]))
      .optional(),
  }),
})

/** For clients that cannot send protocol pings (browsers): answered with `pong` at once. */
export const PingUp = z.object({ type: z.literal('ping') })

/** Every frame a client may send. */
export const Up = z.discriminatedUnion(
  'type',
  [MessageUp, RegenerateUp, CancelUp, AnswerUp, PingUp],
  {
    error: (issue) =>
      issue.code === 'invalid_union'
        ? 'must be one of "message", "regenerate", "cancel", "answer", "ping"'
        : undefined,
  },
)
export type Up = z.infer<typeof Up>
