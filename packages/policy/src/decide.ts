import type { CatalogTool, Principal } from '@mcp-host/contracts'
import { comparable, hasMark } from '@mcp-host/contracts'
import { argumentForms } from '@mcp-host/upstream/arguments'
import { matchesPattern } from './matches-pattern.ts'
import type { Effect, Policy, Rule } from './policy-file.ts'
import { ITEM_KINDS } from './policy-file.ts'
import { deniedSpellings, uriSpellings } from './uri-spellings.ts'

/** A server, with the principal that would use it. */
export interface ServerUse {
  readonly principal: Pick<Principal, 'id' | 'roles'>
  readonly server: string
}

/** A tool call, with the principal that makes it. */
export interface ToolUse extends ServerUse {
  readonly tool: string
  /** Called only when a rule needs the annotations. */
  readonly annotations: () => CatalogTool['annotations']
}

export interface ToolCall extends ToolUse {
  readonly arguments: unknown
  /** Called only when a rule needs the schema; `undefined` when it is not known. */
  readonly inputSchema: () => unknown
}

export interface PromptUse extends ServerUse {
  readonly prompt: string
}

export interface ResourceUse extends ServerUse {
  /** The URI, or the template of URIs. */
  readonly resource: string
}

/** The use of an item, with its arguments where they can be decided about. */
export type ItemUse = ToolCall | PromptUse | ResourceUse

export interface Decision {
  readonly effect: Effect
  /** The rule that decided; absent when none matched and the default decided. */
  readonly rule?: Rule
  /** Its position in the file, from 0. */
  readonly index?: number
  /** Why the call is denied, where that is not for the reason of the rule. */
  readonly reason?: string
}

/** The mismatch of arguments in too many forms for a decision. */
export const TOO_MANY_FORMS = 'forms'
const TOO_LARGE =
  'an argument about which the policy has a rule is too large, or its schema is; send less at a time'

/**
 * Decides the use of an item by the first rule that matches. A call is denied when a rule cannot be applied to its
 * arguments. Only tools can wait for an approval. Pure.
 */
export function decide(policy: Policy, use: ItemUse): Decision {
  for (const [index, rule] of policy.rules.entries()) {
    const mismatch = mismatchOf(rule, use)
    if (mismatch === TOO_MANY_FORMS) return { effect: 'deny', rule, index, reason: TOO_LARGE }
    if (mismatch === undefined) return { effect: effectOn(use, rule.effect), rule, index }
  }
  return { effect: effectOn(use, policy.default) }
}

/** Whether the policy denies every use of an item, whatever its arguments are, so that it is not listed. Pure. */
export function isHidden(policy: Policy, use: ToolUse | PromptUse | ResourceUse): boolean {
  for (const rule of policy.rules) {
    if (itemMismatchOf(rule, use) !== undefined) continue
    if (rule.effect !== 'deny') return false
    if (rule.arguments === undefined) return true
  }
  return policy.default === 'deny'
}

/** Whether the policy denies everything that a server offers, so that the server is not named. Pure. */
export function isServerHidden(policy: Policy, use: ServerUse): boolean {
  for (const rule of policy.rules) {
    if (serverMismatchOf(rule, use) !== undefined) continue
    if (rule.effect !== 'deny') return false
    if (isAboutAll(rule)) return true
  }
  return policy.default === 'deny'
}

/** Whether a rule is about all kinds of items of its servers. */
export function isAboutAll(rule: Rule): boolean {
  const parts = [...ITEM_KINDS, 'annotation', 'arguments'] as const
  return parts.every((part) => rule[part] === undefined)
}

/**
 * The part of a rule that a use does not match; `undefined` when the whole rule matches. Arguments are allowed only if
 * all forms in which they may reach the server match, and otherwise match in any of them.
 */
export function mismatchOf(
  rule: Rule,
  use: ItemUse,
): keyof Rule | typeof TOO_MANY_FORMS | undefined {
  const mismatch = itemMismatchOf(rule, use)
  if (mismatch !== undefined || rule.arguments === undefined || !('tool' in use)) return mismatch
  for (const [path, patterns] of Object.entries(rule.arguments)) {
    const forms = argumentForms(use.arguments, path.split('.'), use.inputSchema())
    if (forms === undefined) return TOO_MANY_FORMS
    const matches = (form: unknown): boolean => matchesAny(patterns, textOf(form))
    const isMatch = rule.effect === 'allow' ? forms.every(matches) : forms.some(matches)
    if (forms.length === 0 || !isMatch) return 'arguments'
  }
  return undefined
}

function effectOn(use: ItemUse, effect: Effect): Effect {
  return effect === 'approve' && !('tool' in use) ? 'allow' : effect
}

function serverMismatchOf(
  { users, roles, server }: Rule,
  { principal, server: name }: ServerUse,
): keyof Rule | undefined {
  if (users !== undefined && !matchesAny(users, principal.id)) return 'users'
  if (roles !== undefined && !principal.roles.some((role) => matchesAny(roles, role)))
    return 'roles'
  return server === undefined || matchesAny(server, name) ? undefined : 'server'
}

function itemMismatchOf(
  rule: Rule,
  use: ToolUse | PromptUse | ResourceUse,
): keyof Rule | undefined {
  const mismatch = serverMismatchOf(rule, use)
  if (mismatch !== undefined) return mismatch
  const named = ITEM_KINDS.find((kind) => rule[kind] !== undefined)
  if (named !== undefined && !isNamed(rule, use)) return named
  if (!('tool' in use)) {
    if (rule.annotation !== undefined) return 'annotation'
    return rule.arguments === undefined ? undefined : 'arguments'
  }
  const isMarked = rule.annotation === undefined || hasMark(rule.annotation, use.annotations())
  return isMarked ? undefined : 'annotation'
}

/** Whether the rule names the item. A URI is denied in any of its spellings, and allowed only in all of them. */
function isNamed(
  { tool = [], prompt = [], resource = [], effect }: Rule,
  use: ToolUse | PromptUse | ResourceUse,
): boolean {
  if ('tool' in use) return matchesName(tool, use.tool)
  if ('prompt' in use) return matchesName(prompt, use.prompt)
  const matches = (uri: string): boolean => matchesAny(resource, uri)
  return effect === 'deny'
    ? deniedSpellings(use.resource).some(matches)
    : uriSpellings(use.resource).every(matches)
}

/** Names that look the same match the same rules. Users, roles, URIs and arguments are compared as they are. */
function matchesName(patterns: readonly string[], name: string): boolean {
  return matchesAny(patterns.map(comparable), comparable(name))
}

function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
