import type { Bus } from '@mcp-host/bus'
import { HistoryMessage, sessionHistory } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import {
  Attachments,
  ContentBlocks,
  Failure,
  Outcome,
  Tokens,
  TokensByModel,
  WholeResult,
  WORDS,
} from '../../projection/answer-parts.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { next, Page } from './page.ts'
import { SessionParams } from './session-params.ts'

const { data, metadata } = HistoryMessage.shape

const Approval = describeFields(data.unwrap().shape.approval.unwrap(), {
  how: 'The answer; `expired` when nobody answered in time, `void` when no answer was needed any more.',
  by: 'The user who answered; absent for readers of a share.',
})

const Data = describeFields(
  data.unwrap().extend({
    approval: Approval.optional(),
    content: ContentBlocks.optional(),
    error: Failure.optional(),
    blob: WholeResult.optional(),
  }),
  {
    arguments: `${WORDS.arguments} A text that says so when they are too large to be shown.`,
    approval: 'Present when the question whether the call may run has ended.',
    outcome: `Absent before the result. ${WORDS.toolOutcome}`,
    content: 'MCP content blocks; a text that says so when they are too large to be shown.',
    structuredContent: `${WORDS.structuredContent} Absent when it is too large to be shown.`,
    error: WORDS.toolError,
    blob: WholeResult.description ?? '',
    durationMs: WORDS.durationMs,
  },
)

const Metadata = describeFields(
  metadata.extend({
    outcome: Outcome.optional(),
    error: Failure.optional(),
    usage: Tokens.optional(),
    turnUsage: TokensByModel.optional(),
    attachments: Attachments.optional(),
  }),
  {
    messageId: 'Id of the user message whose turn it belongs to.',
    branches:
      'For a user message: ids of all alternative messages at its place, including its own, oldest first; absent without alternatives.',
    state:
      'For a user message: the state of its turn. `queued`: not begun; `waiting`: waits until the user allows a tool call.',
    outcome: `For a user message whose turn is \`done\`. ${WORDS.turnOutcome}`,
    error: 'For a user message: why its turn failed; for an answer: why it is not complete.',
    reasoning: "For an answer: the model's reasoning.",
    provider: 'For an answer: the provider of the model.',
    model: 'For an answer: the name of the model at its provider.',
    usage: `For an answer. ${Tokens.description ?? ''}`,
    turnUsage:
      'For a user message whose turn is `done`: tokens and cost of the turn, by model. It includes answers that are not shown, as those that were replaced after a fault.',
    attachments: 'For a user message: its attached files.',
  },
)

const Message = describeFields(
  HistoryMessage.extend({ data: Data.optional(), metadata: Metadata }),
  {
    id: "A user message's own id, else one made by the host.",
    role: '`assistant`: the model; `tool`: a call of a tool; `system`: a note of the host about the turn.',
    createdAt: 'Epoch milliseconds.',
    content: 'The text; absent for tool calls, and for an answer that is only reasoning.',
    data: 'For a tool call: its arguments and, once it has ended, its result.',
    toolName: `For a tool call: ${WORDS.toolName}`,
    kind: 'For answers and tool calls. A tool call without a result is `start` before it runs and `progress` while it runs; everything else is `complete`.',
    metadata: 'Further fields, which depend on the role.',
  },
).meta({ id: 'Message', description: 'One message of a conversation.' })

/** The answer of a route with messages. */
export const MessagesPage = jsonAnswer(
  'A page of messages.',
  z.object({ messages: z.array(Message), next }),
)

const MessagesQuery = Page.extend({
  branch: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(
      'Id of a user message: the first page is of the newest branch that has it. Default: of the newest branch.',
    ),
})

export function addListMessages(api: Api, { bus }: { readonly bus: Bus }): void {
  api.get(
    '/session/:id/messages',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'listMessages',
        summary: 'List the messages of a branch',
        description:
          'In whole turns, the oldest first. `limit` counts turns. A turn that is not `done` has only its stored messages; the event stream also has its live text.',
        params: SessionParams,
        querystring: MessagesQuery,
        response: {
          200: MessagesPage,
          ...faults(400, 404, 503, 504),
        },
      },
    },
    async ({ params: { id: session }, query: { limit, before, branch }, envelope }) => {
      const page = {
        session,
        limit,
        ...(before === undefined ? {} : { before }),
        ...(branch === undefined ? {} : { branch }),
      }
      return askOrchestrator(bus, sessionHistory, page, envelope)
    },
  )
}
