import { APPROVAL_MARKS } from '@mcp-host/contracts'
import { parseRate } from '@mcp-host/limits'
import { z } from 'zod'

const MAX_RULES = 1_000

const Pattern = z.string().min(1).max(500)
const Patterns = z
  .union([Pattern, z.array(Pattern).min(1).max(100)])
  .transform((given) => [given].flat())

const Limit = z
  .string()
  .regex(/^[1-9]\d{0,11}\/[smhd]$/, 'must be a number per s, m, h or d, as 10/m')
  .transform((text) => parseRate(text))
  .describe('How often each principal may make calls that this rule decides, as `10/m`.')

/** The effect on a use: it is allowed, it is denied, or it needs a user's approval. */
export const Effect = z.enum(['allow', 'deny', 'approve'])
export type Effect = z.infer<typeof Effect>

/** The kinds of items that a rule may name. */
export const ITEM_KINDS = ['tool', 'prompt', 'resource'] as const

/** The parts of a rule that have a meaning for tools alone. */
const OF_TOOLS = ['annotation', 'arguments', 'limit'] as const

const RuleParts = z.strictObject({
  name: z.string().min(1).max(100).optional().describe('Shown where the rule decides.'),
  roles: Patterns.optional().describe('The principal has one of these roles.'),
  users: Patterns.optional().describe(
    'Ids of principals, such as `user:ann`, `key:ci` or `oidc:*`.',
  ),
  server: Patterns.optional().describe('Names of MCP servers.'),
  tool: Patterns.optional().describe(
    'Names of tools at their server. A rule that names tools, prompts or resources is about those alone.',
  ),
  prompt: Patterns.optional().describe('Names of prompts at their server, also for completions.'),
  resource: Patterns.optional().describe(
    'URIs of resources at their server, or templates: for reads, completions and subscriptions.',
  ),
  annotation: z
    .enum(APPROVAL_MARKS as [string, ...string[]])
    .optional()
    .describe('What the server says of the tool; a server that lies is not seen through.'),
  arguments: z
    .record(z.string(), Patterns)
    .optional()
    .describe(
      'Arguments by their dotted paths, compared as text, also in the forms to which they may be coerced by the schema of the tool. An absent argument matches no pattern.',
    ),
  effect: Effect,
  limit: Limit.optional(),
  reason: z
    .string()
    .max(500)
    .optional()
    .describe('Told to the caller of a call that is not allowed.'),
})

/** The first rule that matches the use of an item decides about it. A missing part matches everything. */
export const Rule = RuleParts.superRefine((rule, context) => {
  const named = rule.prompt === undefined ? 'resource' : 'prompt'
  if (rule[named] === undefined) return
  const fault = (part: keyof typeof rule, message: string): void =>
    context.addIssue({ code: 'custom', path: [part], message })
  for (const part of OF_TOOLS) {
    if (rule[part] !== undefined)
      fault(part, `is about tools; leave it out, or move "${named}" to a rule of its own`)
  }
  if (rule.effect === 'approve')
    fault('effect', `only tools can wait for an approval; use allow or deny for "${named}"`)
})
export type Rule = z.infer<typeof Rule>

export const PinMode = z.enum(['off', 'warn', 'quarantine'])
export type PinMode = z.infer<typeof PinMode>

/** The contents of `policy.json`. */
export const PolicyFile = z.strictObject({
  $schema: z.string().optional(),
  rules: z.array(Rule).max(MAX_RULES).default([]),
  default: Effect.default('allow').describe('What happens where no rule matches.'),
  pin: PinMode.default('off').describe(
    'What happens to a tool whose description or schema differs from the one that was recorded first: nothing, a warning in the log, or quarantine until an admin accepts the change.',
  ),
})
export type Policy = z.infer<typeof PolicyFile>

/** The policy without a file: everything is allowed. */
export const OPEN_POLICY: Policy = { rules: [], default: 'allow', pin: 'off' }
