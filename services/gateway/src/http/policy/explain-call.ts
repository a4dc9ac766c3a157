import { basename } from 'node:path'
import type { CatalogView } from '@mcp-host/bus'
import { JsonObject, PrincipalId, RoleName, viewServers } from '@mcp-host/contracts'
import { Effect, ITEM_KINDS, ruleName } from '@mcp-host/policy'
import { elementLines } from '@mcp-host/service'
import type { AccessPolicy } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'

const name = z.string().min(1).max(500)

const Call = z
  .object({
    principal: PrincipalId.describe('Who would call, such as `user:ann`.'),
    roles: z.array(RoleName).max(32).default(['user']).describe('Roles of that principal.'),
    server: z.string().min(1).max(200).describe('The MCP server.'),
    tool: name.optional().describe('Name of the tool at the server.'),
    prompt: name.optional().describe('Instead of `tool`: name of a prompt there.'),
    resource: name
      .optional()
      .describe('Instead of `tool`: URI of a resource there, or a template.'),
    arguments: JsonObject.default({}).describe('What the tool would be called with.'),
  })
  .refine((call) => ITEM_KINDS.filter((kind) => call[kind] !== undefined).length === 1, {
    error: 'must be given, or else prompt or resource, and only one of them',
    path: ['tool'],
  })

const Explanation = z
  .object({
    effect: Effect.describe('What happens to it: it is allowed, is denied, or needs an approval.'),
    decidedBy: z
      .enum(['rule', 'default', 'quarantine', 'tool-approval'])
      .describe(
        '`quarantine`: the definition of the tool has changed. `tool-approval`: `TOOL_APPROVAL` asks for calls that the policy allows.',
      ),
    rule: z.string().optional().describe('The rule that decided: its name, or as `rule 1`.'),
    file: z.string().optional().describe('Name of the file of the policy, without its folder.'),
    reason: z.string().optional().describe('What the rule tells the caller.'),
    isKnown: z
      .boolean()
      .describe('Whether the server lists the item; annotations of unlisted tools are missing.'),
    rules: z
      .array(
        z.object({
          rule: z.string().describe('Its name, or as `rule 1`.'),
          text: z.string().optional().describe('What it says, on one line.'),
          line: z.number().int().optional().describe('Where it begins in the file of the policy.'),
          verdict: z.string().describe('`decides`, `does not match` or `comes too late`.'),
          mismatch: z.string().optional().describe('The part of the rule that does not match.'),
        }),
      )
      .describe('All rules of the policy in their order.'),
  })
  .meta({
    id: 'Explanation',
    description: 'How the policy decides about the use of an item, and why.',
  })

export interface ExplainCallDeps {
  readonly policy: Pick<AccessPolicy, 'explain'>
  /** The file of the rules. */
  readonly policyFile?: string | undefined
  readonly catalog: Pick<CatalogView, 'entries'>
}

/** The route by which admins try the policy. No call is made. */
export function addExplainCall(
  api: Api,
  { policy, policyFile = '', catalog }: ExplainCallDeps,
): void {
  api.post(
    '/policy/explain',
    {
      schema: {
        tags: ['auth'],
        operationId: 'explainCall',
        summary: 'Explain how the policy would decide about a tool call, a prompt or a resource',
        body: Call,
        response: { 200: jsonAnswer('The decision.', Explanation), ...faults(400, 413, 415) },
      },
    },
    async ({ body }) => {
      const { principal: id, roles, server, tool, prompt = '', resource } = body
      const view = viewServers(catalog.entries.values()).find((each) => each.server === server)
      const { prompts = [], resources = [], resourceTemplates = [] } = view?.entry ?? {}
      const known = view?.tools.find((each) => each.name === tool)
      const isKnown =
        known !== undefined ||
        prompts.some((each) => each.name === prompt) ||
        resources.some(({ uri }) => uri === resource) ||
        resourceTemplates.some(({ uriTemplate }) => uriTemplate === resource)
      const use = { principal: { id, roles }, server }
      const annotations = () => known?.annotations
      const inputSchema = () => known?.inputSchema
      const decision = policy.explain(
        tool !== undefined
          ? { ...use, tool, annotations, arguments: body.arguments, inputSchema }
          : resource !== undefined
            ? { ...use, resource }
            : { ...use, prompt },
      )
      const { effect, decidedBy, rule, index, verdicts, reason = rule?.reason } = decision
      const found = elementLines(policyFile, 'rules')
      // While a faulty file waits for its remedy, the rules before it decide, whose lines are not known.
      const lines = found.length === verdicts.length ? found : []
      return {
        effect,
        decidedBy,
        ...(index === undefined ? {} : { rule: ruleName(rule?.name, index) }),
        ...(reason === undefined ? {} : { reason }),
        isKnown,
        ...(lines.length === 0 ? {} : { file: basename(policyFile) }),
        rules: verdicts.map((each, position) => {
          const line = lines[position]
          return { ...each, ...(line === undefined ? {} : { line }) }
        }),
      }
    },
  )
}
