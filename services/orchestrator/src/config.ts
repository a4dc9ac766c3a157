import type { Config } from '@mcp-host/service'
import {
  approvalSettings,
  auditSettings,
  limitSettings,
  policySettings,
  setting,
  values,
} from '@mcp-host/service'

/** Settings of the orchestrators. */
export const orchestratorSettings = {
  systemPrompt: setting({
    env: 'SYSTEM_PROMPT',
    schema: values.text,
    default:
      'You are a helpful assistant. Use the tools you are given when they help to answer; say so when a tool fails.',
    describe: 'System prompt of every conversation.',
  }),
  maxToolCalls: setting({
    env: 'MAX_TOOL_CALLS',
    schema: values.integer(0, 1_000),
    default: '25',
    describe: 'How many tool calls one turn may make; after that the model must answer without.',
  }),
  maxSessionToolCalls: setting({
    env: 'MAX_SESSION_TOOL_CALLS',
    schema: values.integer(0, 1_000_000),
    default: '0',
    describe: 'How many tool calls all turns of a session may make together; 0 is without limit.',
  }),
  maxTurnMs: setting({
    env: 'MAX_TURN_MS',
    schema: values.integer(0, 86_400_000),
    default: '1800000',
    describe:
      'How long one turn may run, in milliseconds, without the time it waits for approvals; 0 is without limit.',
  }),
  maxTurnTokens: setting({
    env: 'MAX_TURN_TOKENS',
    schema: values.integer(0, 100_000_000),
    default: '0',
    describe: 'How many tokens models may write in one turn; 0 is without limit.',
  }),
  llmRetries: setting({
    env: 'LLM_RETRIES',
    schema: values.integer(0, 10),
    default: '3',
    describe: 'How often a model that failed is asked again before the user is told.',
  }),
  llmRetryMs: setting({
    env: 'LLM_RETRY_MS',
    schema: values.integer(0, 60_000),
    default: '1000',
    describe: 'How long to wait before that, in milliseconds; twice as long each further time.',
  }),
  contextTokens: setting({
    env: 'CONTEXT_TOKENS',
    aliases: ['MAX_TOKEN_COUNT'],
    schema: values.integer(1_000, 10_000_000).optional(),
    describe:
      'How many tokens of a conversation a model is sent at most. Without it: as many as the model takes, but not over 200,000.',
  }),
  maxHistoryLength: setting({
    env: 'MAX_HISTORY_LENGTH',
    schema: values.integer(0, 100_000),
    default: '0',
    describe:
      'How many messages of a conversation a model is sent, tool calls and results included; of more the older ones are summarised. 0 is without limit.',
  }),
  summarizationThreshold: setting({
    env: 'SUMMARIZATION_THRESHOLD',
    schema: values.integer(10, 100),
    default: '85',
    describe:
      'From which part of the context on a conversation is summarised, in percent. Old tool results are cleared before that.',
  }),
  retainNewestMessages: setting({
    env: 'RETAIN_NEWEST_MESSAGES',
    schema: values.integer(0, 1_000),
    default: '0',
    describe:
      'How many of the newest messages stay beside a summary, where there is room. 0: as many as fit into a quarter of the context.',
  }),
  maxResultTokens: setting({
    env: 'MAX_RESULT_TOKENS',
    schema: values.integer(100, 1_000_000),
    default: '8000',
    describe:
      'How many tokens of one tool result a model is sent; it can read and search the rest by a tool.',
  }),
  maxOfferedTools: setting({
    env: 'MAX_OFFERED_TOOLS',
    schema: values.integer(0, 100_000),
    default: '100',
    describe:
      'Largest number of tools that a model is offered. With more tools, or with definitions that take more than a quarter of the context, it is offered a search and the tools that it has found or called before.',
  }),
  ...approvalSettings,
  ...policySettings,
  ...limitSettings,
  ...auditSettings,
  limitTurns: setting({
    env: 'LIMIT_TURNS',
    schema: values.integer(0, 10_000),
    default: '0',
    describe:
      'Turns of each principal that run at a time, at all orchestrators together; messages beyond wait. A turn that waits for an approval does not count. 0 is without limit.',
  }),
  sessionTtlDays: setting({
    env: 'SESSION_TTL_DAYS',
    schema: values.integer(0, 3_650),
    default: '30',
    describe: 'Sessions without activity for this number of days are deleted; 0 keeps them.',
  }),
}

export type OrchestratorConfig = Config<typeof orchestratorSettings>
