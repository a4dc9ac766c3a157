import type { CatalogEntry, CatalogTool } from '../mcp-server/catalog-entry.ts'
import { comparable } from '../comparable.ts'
import { ownValue } from '../own-value.ts'
import { viewServers } from '../mcp-server/view-servers.ts'

type Hints = NonNullable<CatalogTool['annotations']>

/** The rules that select tools by the hints of their servers. */
const MARKS: Readonly<Record<string, (hints: Hints) => boolean>> = {
  // MCP interprets missing hints in this way: a tool may write and destroy unless it declares the opposite.
  '@writes': ({ readOnlyHint }) => readOnlyHint !== true,
  '@destructive': ({ readOnlyHint, destructiveHint }) =>
    readOnlyHint !== true && destructiveHint !== false,
  '@open-world': ({ openWorldHint }) => openWorldHint !== false,
}

export const APPROVAL_MARKS: readonly string[] = Object.keys(MARKS)

/** Whether the annotations of a tool have a mark; missing ones count as the worst case. */
export function hasMark(mark: string, annotations: CatalogTool['annotations']): boolean {
  return ownValue(MARKS, mark)?.(annotations ?? {}) === true
}

/** Whether calls of a tool must be allowed by the user; `annotations` are read only where a rule needs them. */
export type ApprovalRule = (
  server: string,
  tool: string,
  annotations: () => CatalogTool['annotations'],
) => boolean

/** The rule of a list such as `filesystem.write_*`, `mail.*`, `@destructive`; `*` matches any text. */
export function approvalRule(rules: readonly string[]): ApprovalRule {
  const find = approvalFinder(rules)
  return (...tool) => find(...tool) !== undefined
}

/** Finds the first rule of such a list that selects a tool; those that name tools come before marks. */
export function approvalFinder(
  rules: readonly string[],
): (...tool: Parameters<ApprovalRule>) => string | undefined {
  const marks = rules.filter((rule) => rule.startsWith('@'))
  const patterns = patternsOf(rules).map((rule) => ({ rule, pattern: toRegExp(rule) }))
  return (server, tool, annotations) => {
    const name = comparable(`${server}.${tool}`)
    const named = patterns.find(({ pattern }) => pattern.test(name))
    if (named !== undefined || marks.length === 0) return named?.rule
    const hints = annotations()
    return marks.find((mark) => hasMark(mark, hints))
  }
}

/** Whether a text has the form of such a rule. */
export function isApprovalRule(rule: string): boolean {
  return rule.startsWith('@') ? APPROVAL_MARKS.includes(rule) : /^[^.\s]+\..+$|^\*$/.test(rule)
}

/** The patterns that match no tool, nor a configured server that is not ready and so may have such a tool. */
export function unmatchedPatterns(
  rules: readonly string[],
  catalog: readonly CatalogEntry[],
): string[] {
  const patterns = patternsOf(rules)
  const supervisors = catalog.filter((entry) => entry.kind === 'supervisor')
  if (patterns.length === 0 || supervisors.length === 0) return []
  const ready = viewServers(catalog).filter(({ state }) => state === 'ready')
  const isReady = new Set<string>(ready.map(({ server }) => server))
  const configured = supervisors.flatMap((entry) => entry.configured ?? [])
  const unready = configured.filter((server) => !isReady.has(server))
  const names = ready.flatMap(({ server, tools }) =>
    tools.map(({ name }) => comparable(`${server}.${name}`)),
  )
  return patterns.filter((rule) => {
    const [server = ''] = rule.split('.', 1)
    const [serverPattern, pattern] = [toRegExp(server), toRegExp(rule)]
    return (
      !unready.some((name) => serverPattern.test(name)) && !names.some((name) => pattern.test(name))
    )
  })
}

function patternsOf(rules: readonly string[]): readonly string[] {
  return rules.filter((rule) => !rule.startsWith('@'))
}

/** Matches comparable names. */
function toRegExp(rule: string): RegExp {
  const parts = comparable(rule)
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  // Names of tools may contain line breaks, which `.` matches with the flag only.
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
