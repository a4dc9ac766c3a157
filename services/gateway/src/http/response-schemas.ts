import {
  ConnectionInfo,
  HistoryMessage,
  ServerEntry,
  SessionRecord,
  ToolUse,
} from '@mcp-host/contracts'
import { z } from 'zod'
import {
  Attachments,
  ContentBlocks,
  Failure,
  Outcome,
  Tokens,
  TokensByModel,
  WholeResult,
  WORDS,
} from '../projection/answer-parts.ts'
import { describeFields } from '../projection/describe-fields.ts'

export const Session = describeFields(
  SessionRecord.omit({ entries: true }).extend({
    usage: TokensByModel,
    metadata: z.looseObject({}).optional(),
  }),
  {
    id: 'A secret: who knows it may read and write the session.',
    owner: 'Who began it.',
    title: 'The one a user gave it, else the beginning of its first message.',
    isTitled: 'Whether a user chose the title.',
    createdAt: 'Epoch milliseconds.',
    updatedAt: 'When the last message or turn came, in epoch milliseconds.',
    model:
      'Who answers messages that name nobody, as `provider/model` or `provider`; absent where nobody chose that.',
    modelSeq: 'Where in its log that was chosen last.',
    systemPrompt: 'What models are told before its conversation; absent: as the host is set.',
    temperature: 'Of its answers; absent: as the provider is set.',
    maxToolCalls: 'How many tool calls each of its turns may make; absent: as the host is set.',
    settingsSeq: 'Where in its log these were chosen last.',
    metadata: "The caller's own.",
    isExpired: 'Of deleted ones.',
    messages: 'How many user messages it has, on all branches.',
    usage: 'What all turns took, by model.',
    state: '`active`: those that were deleted are not shown.',
  },
).meta({ id: 'Session', description: 'What is known of a session.' })

const { data, metadata } = HistoryMessage.shape

const Data = describeFields(
  data.unwrap().extend({
    content: ContentBlocks.optional(),
    error: Failure.optional(),
    blob: WholeResult.optional(),
  }),
  {
    arguments: `${WORDS.arguments} A text that says so when they are too large to be shown.`,
    outcome: `Absent while there is no result. ${WORDS.toolOutcome}`,
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
    attachments: Attachments.optional(),
  }),
  {
    messageId: 'Id of the user message whose turn it belongs to.',
    branches:
      'Of a user message: ids of all that stand in its place, itself included, the oldest first; absent when it stands there alone.',
    state:
      'Of a user message: how its turn stands. `queued`: not begun; `waiting`: for a permission of the user.',
    outcome: `Of a user message whose turn is \`done\`. ${WORDS.turnOutcome}`,
    error: 'Of a user message: why its turn failed; of an answer: why it is not complete.',
    reasoning: "Of an answer: the model's reasoning.",
    provider: 'Of an answer: who runs the model.',
    model: 'Of an answer: the name of the model there.',
    usage: `Of an answer. ${Tokens.description ?? ''}`,
    attachments: 'Of a user message: the files that came with it.',
  },
)

export const Message = describeFields(
  HistoryMessage.extend({ data: Data.optional(), metadata: Metadata }),
  {
    id: "A user message's own id, else one made by the host.",
    role: '`assistant`: the model; `tool`: a call of a tool; `system`: a note of the host about the turn.',
    createdAt: 'Epoch milliseconds.',
    content: 'The text; absent of tools, and of an answer that is only reasoning.',
    data: 'Of a tool: its arguments, and its result once there is one.',
    toolName: `Of a tool: ${WORDS.toolName}`,
    kind: 'Of answers and tools: Of a tool that has no result: `start` before it runs, `progress` while it runs. Else `complete`.',
    metadata: 'What else is known of it.',
  },
).meta({ id: 'Message', description: 'One message of a conversation.' })

export const Tools = z
  .array(
    z.object({
      server: z.string().describe('Whose it is.'),
      tool: z.string().describe('Its name there.'),
      state: ServerEntry.shape.state.describe('Of its server; only tools of `ready` ones run.'),
      use: describeFields(ToolUse, {
        calls: 'How often it was called.',
        failures: 'How often it failed.',
        averageMs: 'How long its calls took on average, in milliseconds.',
        lastUsedAt: 'When it was called last, in epoch milliseconds.',
      })
        .optional()
        .describe('How it was used since its server started; absent when it was not.'),
    }),
  )
  .describe('The tools of the host, as they are now.')

export const Connection = describeFields(ConnectionInfo, {
  clientId: 'Given by the gateway.',
  gateway: 'The process that has the socket.',
  connectedAt: 'Epoch milliseconds.',
  lastActiveAt: 'When it last sent something, in epoch milliseconds.',
  userAgent: 'As the client said.',
})
