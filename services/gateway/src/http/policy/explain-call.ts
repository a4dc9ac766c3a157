import type { CatalogView } from '@mcp-host/bus'
import { PrincipalId, RoleName, viewServers } from '@mcp-host/contracts'
import { Effect, ruleName } from '@mcp-host/policy'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { ToolPolicy } from '../../mcp/core/tool-policy.ts'

const Call = z.object({
  principal: PrincipalId.describe('Who would call, such as `user:ann`.'),
  roles: z.array(RoleName).max(32).default(['user']).describe('Roles of that principal.'),
  server: z.string().min(1).max(200).describe('The MCP server.'),
  tool: z.string().min(1).max(500).describe('Its name at the server.'),
  arguments: z.looseObject({}).default({}).describe('What it would be called with.'),
})

const Explanation = z
  .object({
    effect: Effect.describe('What happens to the call: it runs, is denied, or needs an approval.'),
    decidedBy: z
      .enum(['rule', 'default', 'quarantine', 'tool-approval'])
      .describe(
        '`quarantine`: the definition of the tool has changed. `tool-approval`: `TOOL_APPROVAL` asks for calls that the policy allows.',
      ),
    rule: z.string().optional().describe('The rule that decided: its name, or as `rule 1`.'),
    reason: z.string().optional().describe('What the rule tells the caller.'),
    isKnown: z
      .boolean()
      .describe('Whether a server lists the tool; annotations of others are missing.'),
    rules: z
      .array(
        z.object({
          rule: z.string().describe('Its name, or as `rule 1`.'),
          verdict: z.string().describe('`decides`, `does not match` or `comes too late`.'),
          mismatch: z.string().optional().describe('The part of the rule that does not match.'),
        }),
      )
      .describe('All rules of the policy in their order.'),
  })
  .meta({ id: 'Explanation', description: 'How the policy decides about a call, and why.' })

export interface ExplainCallDeps {
  readonly policy: Pick<ToolPolicy, 'explain'>
  readonly catalog: Pick<CatalogView, 'entries'>
}

/** The route by which admins try the policy. No call is made. */
export function addExplainCall(api: Api, { policy, catalog }: ExplainCallDeps): void {
  api.post(
    '/policy/explain',
    {
      schema: {
        tags: ['auth'],
        operationId: 'explainCall',
        summary: 'Explain how the policy would decide about a tool call',
        body: Call,
        response: { 200: jsonAnswer('The decision.', Explanation), ...faults(400, 413, 415) },
      },
    },
    async ({ body: { principal: id, roles, server, tool, arguments: given } }) => {
      const known = viewServers(catalog.entries.values())
        .find((each) => each.server === server)
        ?.tools.find(({ name }) => name === tool)
      const call = { principal: { id, roles }, server, tool, arguments: given }
      const decision = policy.explain({ ...call, annotations: () => known?.annotations })
      const { effect, decidedBy, rule, index, verdicts } = decision
      return {
        effect,
        decidedBy,
        ...(index === undefined ? {} : { rule: ruleName(rule?.name, index) }),
        ...(rule?.reason === undefined ? {} : { reason: rule.reason }),
        isKnown: known !== undefined,
        rules: verdicts,
      }
    },
  )
}
