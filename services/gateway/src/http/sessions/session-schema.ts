import { SessionDetails, SessionRecord } from '@mcp-host/contracts'
import { z } from 'zod'
import { TokensByModel } from '../../projection/answer-parts.ts'
import { describeFields } from '../../projection/describe-fields.ts'

export const Session = describeFields(
  SessionRecord.omit({ entries: true }).extend({
    usage: TokensByModel,
    metadata: z.looseObject({}).optional(),
  }),
  {
    id: 'A secret: who knows it may read and write the session.',
    owner: 'Principal that created the session.',
    title: 'The one a user gave it, else the beginning of its first message.',
    isTitled: 'Whether a user chose the title.',
    createdAt: 'Epoch milliseconds.',
    updatedAt: 'When the last message or turn came, in epoch milliseconds.',
    model:
      'The model for messages that name none, as `provider/model` or `provider`; absent: the default of the host.',
    modelSeq: 'Sequence in its log of the last choice of a model.',
    systemPrompt: 'System prompt of the session; absent: the default of the host.',
    temperature: 'Sampling temperature of its answers; absent: the default of the provider.',
    maxToolCalls: 'Largest number of tool calls of each turn; absent: the default of the host.',
    servers: 'The MCP servers whose tools it may use; absent: all.',
    accounts:
      'The labels of the logins that its calls use, by MCP server; absent: the default ones.',
    settingsSeq: 'Sequence in its log of the last change of these settings.',
    metadata: 'Values that the caller stored.',
    isExpired: 'For a deleted session: whether it was deleted because it expired.',
    activity:
      '`running`: a turn of it runs; `waiting`: a question of it waits for a user; absent: no message is unanswered.',
    messages: 'Number of user messages, on all branches.',
    toolCallCount: 'Number of tool calls of its models so far.',
    usage: 'Tokens and cost of all turns, by model.',
    state: '`active`: deleted sessions are not listed.',
  },
).meta({ id: 'Session', description: 'The record of a session.' })

const SessionTool = z.object({
  server: z.string().describe('Its MCP server.'),
  tool: z.string().describe('Its name at the server.'),
})

const { limits, capabilities } = SessionDetails.shape

export const SessionWithDetails = Session.extend({
  limits: describeFields(limits.unwrap(), {
    maxToolCalls: 'Largest number of tool calls of each turn.',
    maxSessionToolCalls: 'Largest number of tool calls of all turns; absent: no limit.',
  })
    .optional()
    .describe('Its limits.'),
  capabilities: describeFields(capabilities.unwrap().extend({ tools: z.array(SessionTool) }), {
    toolCount: 'Number of them.',
    tools: 'The first 1,000 of them.',
  })
    .optional()
    .describe('The tools that it may use now.'),
}).meta({ id: 'SessionWithDetails', description: 'A session with what it may do now.' })
