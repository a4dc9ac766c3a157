import { ContextDown, InputDown, JsonValue, QueueDown, UserDown } from '@mcp-host/contracts'
import { z } from 'zod'
import {
  Attachments,
  ContentBlocks,
  Failure,
  Outcome,
  TokensByModel,
  WholeResult,
  WORDS,
} from './answer-parts.ts'
import { describeFields } from './describe-fields.ts'

const messageId = z.string().describe('Id of the user message.')

const [required, answered, expired, closed] = InputDown.shape.payload.options

const question = {
  id: 'Id of the question, which the answer repeats.',
  kind: '`elicitation`: an MCP server asks; `approval`: the host asks whether the tool may be called.',
  callId: 'Id of the tool call that waits.',
  server: 'Whose tool it is.',
  tool: 'Its name there.',
  message: 'Text of the question.',
}

const Question = z.discriminatedUnion('state', [
  describeFields(required, {
    state: 'It is open.',
    ...question,
    mode: '`form`: fill in `requestedSchema`; `url`: visit `url`; `approval`: accept or decline.',
    requestedSchema: 'With `form`: JSON Schema of a flat object.',
    arguments: 'With `approval`: what the tool is to be called with.',
    url: 'With `url`: to be visited by the user.',
    expiresAt: 'When it ends without an answer, in epoch milliseconds.',
  }),
  describeFields(answered.extend({ by: answered.shape.by.optional() }), {
    state: 'Somebody answered.',
    ...question,
    action: '`accept`, or no: `decline`, `cancel`.',
    by: 'Principal that answered; readers of a share are not told.',
  }),
  describeFields(expired, { state: 'Nobody answered in time.', ...question }),
  describeFields(closed, { state: 'Nobody waits for an answer any more.', ...question }),
])

const Waiting = QueueDown.shape.payload.shape.messages.element

/** The subject of a status. */
const about = {
  user: describeFields(UserDown.shape.payload.extend({ attachments: Attachments.optional() }), {
    messageId: 'Its id.',
    text: 'Text of the user message.',
    attachments: 'The files that came with it.',
    replaces: 'Id of the message in whose place it begins another branch.',
    follows: 'Id of the message that it follows; without both, it follows the newest one.',
  })
    .optional()
    .describe('A message of the session was accepted, over this connection or another.'),
  turn: z
    .discriminatedUnion('state', [
      z.object({ state: z.literal('started'), messageId }),
      z.object({
        state: z.literal('waiting'),
        until: z.number().describe('When it goes on without the user, in epoch milliseconds.'),
      }),
    ])
    .optional()
    .describe('The answer to a message begins, or waits for the user.'),
  status: z
    .object({
      state: z.enum(['processing', 'complete']).describe('`complete`: the turn ends.'),
    })
    .optional()
    .describe('Step of the turn; `content` describes it in words.'),
  input: Question.optional().describe(
    'A tool asks the user something, the host asks whether it may be called, or that is over.',
  ),
  reset: z
    .literal(true)
    .optional()
    .describe(
      'Forget `content` and `thinking` since the turn began, or since the last `tool_result`: they are written anew.',
    ),
  context: describeFields(ContextDown.shape.payload, {
    how: 'Old tool results were `cleared`, or the beginning `summarised` or `dropped`.',
    message: 'The change in words.',
    tokensBefore: 'An estimate.',
    tokensAfter: 'An estimate.',
  })
    .optional()
    .describe('The conversation became too long for the model, which is sent less of it.'),
  queue: z
    .array(describeFields(Waiting, { messageId: 'Its id.', position: '1 is the next.' }))
    .optional()
    .describe('All messages that wait for their turns, each time that changes. Has no event id.'),
}

const toolCall = {
  callId: z.string().describe('The same in all events of one call.'),
  tool: z.string().describe(WORDS.toolName),
  server: z.string().optional().describe('Absent when there is no such tool.'),
}

/** The data of one Server-Sent Event. */
export const SseEvent = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('thinking'),
        content: z.string().describe('Joined in order they are the reasoning.'),
      })
      .describe("A piece of the model's reasoning."),
    z
      .object({
        type: z.literal('status'),
        content: z.string().describe('In words.'),
        ...about,
      })
      .describe('The host says what is going on.'),
    z
      .object({
        type: z.literal('content'),
        content: z.string().describe('Joined in order they are the answer.'),
      })
      .describe('A piece of the answer.'),
    z
      .object({
        type: z.literal('tool_start'),
        content: z.string().describe('In words, with the arguments, shortened.'),
        ...toolCall,
        arguments: JsonValue.describe(WORDS.arguments),
      })
      .describe('The model calls a tool.'),
    z
      .object({
        type: z.literal('tool_progress'),
        content: z.string().describe('Message of the tool, else the numbers.'),
        ...toolCall,
        progress: z.number().describe('How far the tool has come.'),
        total: z.number().optional().describe('The value of `progress` at the end, if known.'),
      })
      .describe('The latest progress of a running tool. Has no event id and is not repeated.'),
    z
      .object({
        type: z.literal('tool_result'),
        content: z.string().describe('The texts of the result, else what the error says.'),
        ...toolCall,
        outcome: z
          .enum(['ok', 'error', 'unknown', 'refused', 'cancelled'])
          .describe(WORDS.toolOutcome),
        data: z
          .object({
            content: ContentBlocks,
            structuredContent: JsonValue.optional().describe(WORDS.structuredContent),
          })
          .describe('All of the result; with `blob` an excerpt of it.'),
        error: Failure.optional().describe(WORDS.toolError),
        blob: WholeResult.optional(),
        durationMs: z
          .number()
          .optional()
          .describe(`${WORDS.durationMs} Absent when the host ended the call.`),
      })
      .describe('A tool call is over.'),
    z
      .object({
        type: z.literal('error'),
        content: z.string().describe('The failure, in words.'),
        ...Failure.omit({ message: true }).shape,
        retryable: z.boolean().describe('Whether the same may succeed later.'),
        session: z
          .object({ state: z.literal('deleted') })
          .optional()
          .describe('The session is erased: nothing follows.'),
      })
      .describe('The turn failed, and `done` follows; or the session was deleted.'),
    z
      .object({
        type: z.literal('done'),
        content: z
          .string()
          .describe('The text of the final answer; all of it, however it was cut.'),
        step: z
          .string()
          .optional()
          .describe(
            "Id of the model's reply that it came from, as in the history. Absent when no model answered.",
          ),
        outcome: Outcome,
        messageId: messageId.optional().describe('Absent in events of earlier versions.'),
        usage: TokensByModel.optional(),
      })
      .describe('The turn is over.'),
  ])
  .meta({ id: 'StreamEvent', description: 'The data of one event of a stream.' })
export type SseEvent = z.infer<typeof SseEvent>
