import type { Config } from '@mcp-host/service'
import { setting, values } from '@mcp-host/service'

/** Settings of the supervisors. */
export const supervisorSettings = {
  mcpJsonPath: setting({
    env: 'MCP_JSON_PATH',
    schema: values.text,
    default: './mcp.json',
    describe: 'File that lists the MCP servers to run.',
  }),
  defaultToolTimeoutMs: setting({
    env: 'DEFAULT_TOOL_TIMEOUT_MS',
    schema: values.integer(1, 86_400_000),
    default: '60000',
    describe:
      'How long a tool call may take when its server sets no time of its own, in milliseconds.',
  }),
}

export type SupervisorConfig = Config<typeof supervisorSettings>
