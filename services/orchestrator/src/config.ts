import type { Config } from '@mcp-host/service'
import { setting, values } from '@mcp-host/service'

/** Settings of the orchestrators. */
export const orchestratorSettings = {
  systemPrompt: setting({
    env: 'SYSTEM_PROMPT',
    schema: values.text,
    default:
      'You are a helpful assistant. Use the tools you are given when they help to answer; say so when a tool fails.',
    describe: 'What every model is told before the conversation.',
  }),
  maxToolCalls: setting({
    env: 'MAX_TOOL_CALLS',
    schema: values.integer(0, 1_000),
    default: '25',
    describe: 'How many tool calls one turn may make; after that the model must answer without.',
  }),
}

export type OrchestratorConfig = Config<typeof orchestratorSettings>
