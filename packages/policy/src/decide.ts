import type { Caller, CatalogTool } from '@mcp-host/contracts'
import { comparable, hasMark } from '@mcp-host/contracts'
import { matchesPattern } from './matches-pattern.ts'
import type { Effect, Policy, Rule } from './policy-file.ts'

/** A tool call, with the principal that makes it. */
export interface ToolUse {
  readonly principal: Caller
  readonly server: string
  readonly tool: string
  /** Called only when a rule needs the annotations. */
  readonly annotations: () => CatalogTool['annotations']
}

export interface ToolCall extends ToolUse {
  readonly arguments: unknown
}

export interface Decision {
  readonly effect: Effect
  /** The rule that decided; absent when none matched and the default decided. */
  readonly rule?: Rule
  /** Its position in the file, from 0. */
  readonly index?: number
}

/** Decides a call by the first rule that matches. Pure. */
export function decide(policy: Policy, call: ToolCall): Decision {
  for (const [index, rule] of policy.rules.entries()) {
    if (mismatchOf(rule, call) === undefined) return { effect: rule.effect, rule, index }
  }
  return { effect: policy.default }
}

/** Whether the policy denies every call of a tool, whatever its arguments are, so that the tool is not listed. Pure. */
export function isHidden(policy: Policy, use: ToolUse): boolean {
  for (const rule of policy.rules) {
    if (toolMismatchOf(rule, use) !== undefined) continue
    if (rule.effect !== 'deny') return false
    if (rule.arguments === undefined) return true
  }
  return policy.default === 'deny'
}

/** The part of a rule that a call does not match; `undefined` when the whole rule matches. */
export function mismatchOf(rule: Rule, call: ToolCall): keyof Rule | undefined {
  const mismatch = toolMismatchOf(rule, call)
  if (mismatch !== undefined) return mismatch
  for (const [path, patterns] of Object.entries(rule.arguments ?? {})) {
    const text = argumentText(call.arguments, path.split('.'))
    if (text === undefined || !matchesAny(patterns, text)) return 'arguments'
  }
  return undefined
}

function toolMismatchOf(rule: Rule, use: ToolUse): keyof Rule | undefined {
  const { principal } = use
  if (rule.users !== undefined && !matchesAny(rule.users, principal.id)) return 'users'
  const { roles } = rule
  if (roles !== undefined && !principal.roles.some((role) => matchesAny(roles, role)))
    return 'roles'
  if (rule.server !== undefined && !matchesAny(rule.server, use.server)) return 'server'
  if (rule.tool !== undefined && !matchesTool(rule.tool, use.tool)) return 'tool'
  const isMarked = rule.annotation === undefined || hasMark(rule.annotation, use.annotations())
  return isMarked ? undefined : 'annotation'
}

/** Names of tools that look the same match the same rules. Users, roles and arguments are compared as they are. */
function matchesTool(patterns: readonly string[], tool: string): boolean {
  return matchesAny(patterns.map(comparable), comparable(tool))
}

function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text))
}

/** An argument as text; `undefined` when there is none. */
function argumentText(value: unknown, path: readonly string[]): string | undefined {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = Reflect.get(at, name)
  }
  return typeof at === 'string' ? at : JSON.stringify(at)
}
