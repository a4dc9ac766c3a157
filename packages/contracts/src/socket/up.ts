import { z } from 'zod'
import { InputAnswered } from '../session/control.ts'

/** C0 and C1 controls except tab, line feed and carriage return. */
// eslint-disable-next-line no-control-regex -- control characters are what it is for
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g

/** The limit of a user message, in UTF-16 units. */
export const MAX_MESSAGE_LENGTH = 128 * 1024

const clean = (text: string): string => text.replaceAll(CONTROLS, '').toWellFormed()

const Text = z
  .string()
  .max(MAX_MESSAGE_LENGTH, `must not be longer than ${MAX_MESSAGE_LENGTH} characters`)
  .transform(clean)

const MessageId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"')

export const ModelReference = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,64}(\/(?!.*\.\.)[A-Za-z0-9._:@+/-]{1,200})?$/,
    'must be "provider/model" or "provider"',
  )

/** The limit of attachments of one message. */
const MAX_ATTACHMENTS = 16

/** Keys of files that were stored by `POST /api/chat/session/{id}/file`. */
const AttachmentKeys = z
  .array(
    z.string().regex(/^[A-Za-z0-9_-]{16,64}\.[0-9a-f-]{36}$/, 'must be the key of an attachment'),
  )
  .max(MAX_ATTACHMENTS, `must not be more than ${MAX_ATTACHMENTS}`)

/** Whether a message has a text or files. */
export function hasContent(text: string, attachments: readonly string[] = []): boolean {
  return text.trim() !== '' || attachments.length > 0
}

/** The fault of a message without content. */
export const NO_CONTENT = 'must not be empty without attachments'

/** A message of the user. Control characters are removed, lone surrogates replaced. */
export const MessageUp = z.object({
  type: z.literal('message'),
  payload: z
    .object({
      /** May be empty where `attachments` are given. */
      text: Text,
      /** The client's id of the message; a repeated message changes nothing. */
      id: MessageId.optional(),
      /** Id of the message that this one replaces: another branch begins in its place. */
      replaces: MessageId.optional(),
      /** Id of the message that this one follows: its branch goes on. Default: the newest message. Not with `replaces`. */
      follows: MessageId.optional(),
      model: ModelReference.optional(),
      attachments: AttachmentKeys.optional(),
    })
    .refine(({ text, attachments }) => hasContent(text, attachments), {
      error: NO_CONTENT,
      path: ['text'],
    }),
})

/** Answers a message again, on another branch. */
export const RegenerateUp = z.object({
  type: z.literal('regenerate'),
  payload: z.object({
    messageId: MessageId,
    /** The id of the repeated message, as with `message`. */
    id: MessageId.optional(),
    model: ModelReference.optional(),
  }),
})

/** Ends a turn, or withdraws a message whose turn has not begun. */
export const CancelUp = z.object({
  type: z.literal('cancel'),
  payload: z
    .object({
      /** Absent for the running turn. */
      messageId: MessageId.optional(),
    })
    .default({}),
})

/** Stops one tool call. Its turn goes on, and the model learns of it. */
export const CancelCallUp = z.object({
  type: z.literal('cancel-call'),
  payload: z.object({
    /** As in the frames of the call. */
    callId: z.string().min(1).max(128),
  }),
})

/** The answer to a question of an `input` frame. The first answer counts. */
export const AnswerUp = z.object({
  type: z.literal('answer'),
  payload: z.object({
    /** The question's id. */
    id: z.string().min(1).max(64),
    action: InputAnswered.shape.action,
    /** With `accept`: the values of the fields, by their names. */
    content: z
      .record(z.string(), z.union([Text, z.number(), z.boolean(), z.array(Text)]))
      .optional(),
  }),
})

/** A ping of browsers, which cannot send protocol pings; answered with `pong` at once. */
const PingUp = z.object({ type: z.literal('ping') })

/** Every frame that a client may send. */
export const Up = z.discriminatedUnion(
  'type',
  [MessageUp, RegenerateUp, CancelUp, CancelCallUp, AnswerUp, PingUp],
  {
    error: (issue) =>
      issue.code === 'invalid_union'
        ? 'must be one of "message", "regenerate", "cancel", "cancel-call", "answer", "ping"'
        : undefined,
  },
)
export type Up = z.infer<typeof Up>
