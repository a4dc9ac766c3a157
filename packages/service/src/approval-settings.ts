import { APPROVAL_MARKS, isApprovalRule } from '@mcp-host/contracts'
import { setting, values } from './settings.ts'

/** The setting for tool calls that need a user's approval, for every service that begins calls. */
export const approvalSettings = {
  toolApproval: setting({
    env: 'TOOL_APPROVAL',
    schema: values.list.superRefine((rules, context) => {
      const unknown = rules.filter((rule) => !isApprovalRule(rule))
      if (unknown.length === 0) return
      const message = `${unknown.join(', ')}: must be server.tool, with * for anything, or one of ${APPROVAL_MARKS.join(', ')}`
      context.addIssue({ code: 'custom', message })
    }),
    default: '',
    describe: `Tools that run only when the user allows the call, by commas: server.tool with * for anything, as filesystem.write_*, or by what the server says of them: ${APPROVAL_MARKS.join(', ')}. The user is asked in chats, and at /mcp where the client can; other calls wait at /api/approvals.`,
  }),
  approvalTimeoutMs: setting({
    env: 'APPROVAL_TIMEOUT_MS',
    schema: values.integer(1_000, 2_592_000_000),
    default: '3600000',
    describe:
      'How long such a call waits for the user, in milliseconds; then it is refused. Clients of older revisions at /mcp have INPUT_TIMEOUT_MS.',
  }),
}
