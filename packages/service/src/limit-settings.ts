import { rateValue } from './rate-limits.ts'
import { setting } from './settings.ts'

/** Rates that several services apply together, with the same values in each. */
export const limitSettings = {
  limitToolCalls: setting({
    env: 'LIMIT_TOOL_CALLS',
    schema: rateValue,
    default: 'off',
    describe:
      'Tool calls of each principal, in chats and by MCP clients together, as 60/m. Rules of the policy can limit single tools.',
  }),
  limitTokens: setting({
    env: 'LIMIT_TOKENS',
    schema: rateValue,
    default: 'off',
    describe:
      'Tokens that the chats of each principal may use, those that models read included, as 1000000/d. When they are used up, running turns end as usual and new messages are refused.',
  }),
}
