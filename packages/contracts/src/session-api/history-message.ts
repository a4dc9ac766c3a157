import { z } from 'zod'
import { JsonValue } from '../json-value.ts'
import { ErrorInfo } from '../error.ts'
import { ModelUsage, Usage } from '../model/content.ts'
import { Attachment } from '../model/media.ts'
import { InputAnswered } from '../session/control.ts'
import { ToolResult } from '../session/tool-outcome.ts'
import { TurnOutcome } from '../session/turn-event.ts'

/** One message of a conversation, as frontends show it. */
export const HistoryMessage = z.object({
  /** A user message's own id, a generation's, or a tool call's. */
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  content: z.string().optional(),
  /** For a tool call: its arguments, and its result once there is one. */
  data: z
    .object({
      arguments: JsonValue,
      /** How the question whether the call may run ended; absent while it is open, and without one. */
      approval: z
        .object({
          how: z.enum([...InputAnswered.shape.action.options, 'expired', 'void']),
          /** The user who answered; absent without an answer, and for readers of a share. */
          by: z.string().optional(),
        })
        .optional(),
      ...ToolResult.partial().shape,
    })
    .optional(),
  /** `server.tool`. */
  toolName: z.string().optional(),
  /** For tool calls and answers: whether more follows. */
  kind: z.enum(['start', 'progress', 'complete']).optional(),
  metadata: z.object({
    /** Id of the user message of its turn. */
    messageId: z.string(),
    /** For a user message: its id and those of its alternatives, oldest first. */
    branches: z.array(z.string()).optional(),
    /** For a user message: the state of its turn. */
    state: z.enum(['queued', 'running', 'waiting', 'done']).optional(),
    outcome: TurnOutcome.optional(),
    error: ErrorInfo.optional(),
    reasoning: z.string().optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
    usage: Usage.optional(),
    /** For a user message whose turn is done: the usage of the turn, as in its `turn` event. */
    turnUsage: z.array(ModelUsage).optional(),
    /** For a user message: its attachments. */
    attachments: z.array(Attachment).optional(),
  }),
})
export type HistoryMessage = z.infer<typeof HistoryMessage>
