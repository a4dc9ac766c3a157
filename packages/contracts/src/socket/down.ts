import { z } from 'zod'
import { JsonObject, JsonValue } from '../json-value.ts'
import { ErrorInfo } from '../error.ts'
import { SessionId } from '../ids.ts'
import { InputAnswered } from '../session/control.ts'
import { ModelUsage } from '../model/content.ts'
import { Attachment } from '../model/media.ts'
import { ToolResult } from '../session/tool-outcome.ts'
import { ContextCompacted, TurnOutcome } from '../session/turn-event.ts'
import { ToolProgress } from '../tool/tool-progress.ts'

/** The cursor of an event in the session's stream; clients resume with the last one as `after`. */
const id = z.string()

/** The state of the connection. `id` is the start of the stream for this socket. */
export const ConnectionDown = z.object({
  type: z.literal('connection'),
  id: id.optional(),
  payload: z.object({
    state: z.enum(['connected', 'reconnected', 'reconnecting', 'error']),
    message: z.string(),
    sessionId: SessionId.optional(),
  }),
})

/** A piece of the answer. */
const TextDown = z.object({
  type: z.literal('text'),
  id,
  payload: z.object({ content: z.string() }),
})

/** The beginning or end of a turn (no `tool`) or a tool call. */
const StatusDown = z.object({
  type: z.literal('status'),
  id,
  payload: z.object({
    state: z.enum(['processing', 'complete']),
    tool: z.string().optional(),
    message: z.string(),
    data: JsonValue.optional(),
  }),
})

/** An accepted user message of this session, of any of its sockets. */
export const UserDown = z.object({
  type: z.literal('user'),
  id,
  payload: z.object({
    messageId: z.string(),
    text: z.string(),
    attachments: z.array(Attachment).optional(),
    /** Id of the message in whose place it begins another branch. */
    replaces: z.string().optional(),
    /** Id of the message that it follows. Without both fields it follows the newest message. */
    follows: z.string().optional(),
  }),
})

/** A piece of the model's reasoning. */
const ThinkingDown = z.object({
  type: z.literal('thinking'),
  id,
  payload: z.object({ content: z.string() }),
})

/** A tool call in detail. */
const ToolDown = z.object({
  type: z.literal('tool'),
  id,
  payload: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('call'),
      callId: z.string(),
      server: z.string().optional(),
      tool: z.string(),
      arguments: JsonValue,
    }),
    z.object({
      state: z.literal('result'),
      callId: z.string(),
      server: z.string().optional(),
      tool: z.string(),
      ...ToolResult.shape,
    }),
  ]),
})

/** The latest progress of a running tool call. Without an id: it is not replayed to clients that resume. */
export const ToolProgressDown = z.object({
  type: z.literal('tool'),
  payload: z.object({
    state: z.literal('progress'),
    callId: z.string(),
    ...ToolProgress.omit({ call: true }).shape,
  }),
})
export type ToolProgressDown = z.infer<typeof ToolProgressDown>

const question = {
  /** The question's id, which the answer repeats. */
  id: z.string(),
  /** `approval`: the host asks whether it may call the tool. */
  kind: z.enum(['elicitation', 'approval']),
  callId: z.string(),
  server: z.string(),
  tool: z.string(),
  message: z.string(),
}

/**
 * A question to the user, by an MCP server or by the host before a tool call, or its end. `void`: it needs no answer.
 * The end of a turn ends its open questions.
 */
export const InputDown = z.object({
  type: z.literal('input'),
  id,
  payload: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('required'),
      ...question,
      /** With `approval` the answer is `accept` or `decline` and nothing more. */
      mode: z.enum(['form', 'url', 'approval']),
      /** JSON Schema of a flat object; with `form`. */
      requestedSchema: JsonObject.optional(),
      /** Arguments of the call; with `approval`. */
      arguments: JsonValue.optional(),
      /** The page for the user; with `url`. */
      url: z.string().optional(),
      /** Epoch milliseconds. */
      expiresAt: z.number(),
    }),
    z.object({
      state: z.literal('answered'),
      ...question,
      action: InputAnswered.shape.action,
      /** The user who answered. */
      by: z.string(),
    }),
    z.object({ state: z.literal('expired'), ...question }),
    z.object({ state: z.literal('void'), ...question }),
  ]),
})

/** The text since the last turn start or tool result is void; it is written again. */
const ResetDown = z.object({
  type: z.literal('reset'),
  id,
  payload: z.object({ message: z.string() }),
})

/** A turn begins or ends. */
const TurnDown = z.object({
  type: z.literal('turn'),
  id,
  payload: z.discriminatedUnion('state', [
    z.object({ state: z.literal('started'), messageId: z.string() }),
    /** The turn continues when the user has answered, at the latest at `until`, in epoch milliseconds. */
    z.object({ state: z.literal('waiting'), until: z.number() }),
    z.object({
      state: z.literal('done'),
      /** Absent in events of earlier versions. */
      messageId: z.string().optional(),
      outcome: TurnOutcome,
      error: ErrorInfo.optional(),
      /** Usage of the turn, by model. */
      usage: z.array(ModelUsage).optional(),
    }),
  ]),
})

/** The conversation was too long for the model, which is sent less of it. */
export const ContextDown = z.object({
  type: z.literal('context'),
  id,
  payload: z.object({
    how: ContextCompacted.shape.how,
    message: z.string(),
    /** Estimates. */
    tokensBefore: z.number(),
    tokensAfter: z.number(),
  }),
})

/** The session is erased: nothing follows. */
const SessionDown = z.object({
  type: z.literal('session'),
  id,
  payload: z.object({ state: z.literal('deleted') }),
})

/** All accepted messages whose turn has not begun, after each change. Without an id: clients that resume get it again. */
export const QueueDown = z.object({
  type: z.literal('queue'),
  payload: z.object({
    /** `position`: 1 for the next message. */
    messages: z.array(z.object({ messageId: z.string(), position: z.number().int().positive() })),
  }),
})

/**
 * The frame of this socket is in the log. `messageId` is the id of the message, of the answered question, or of the
 * message whose turn was cancelled. Sent to this socket only.
 */
const AcceptedDown = z.object({
  type: z.literal('accepted'),
  payload: z.object({ messageId: z.string(), duplicate: z.boolean() }),
})

/** A frame of this socket was refused. Sent to this socket only; the connection stays open. */
const ErrorDown = z.object({
  type: z.literal('error'),
  payload: z.object({
    ...ErrorInfo.shape,
    retryable: z.boolean(),
    messageId: z.string().optional(),
    sessionId: SessionId.optional(),
  }),
})

const PongDown = z.object({ type: z.literal('pong') })

const DownByType = z.discriminatedUnion('type', [
  ConnectionDown,
  TextDown,
  StatusDown,
  UserDown,
  ThinkingDown,
  ToolDown,
  InputDown,
  ResetDown,
  TurnDown,
  ContextDown,
  SessionDown,
  QueueDown,
  AcceptedDown,
  ErrorDown,
  PongDown,
])

/** Every frame that a gateway may send. */
export const Down = z.union([DownByType, ToolProgressDown])
export type Down = z.infer<typeof Down>

/** A frame that is part of the session's stream: every socket of the session gets it. */
export type SessionEvent = Exclude<Extract<Down, { id: string }>, { type: 'connection' }>
