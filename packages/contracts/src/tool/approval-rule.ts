import type { CatalogEntry, CatalogTool } from '../mcp-server/catalog-entry.ts'
import { viewServers } from '../mcp-server/view-servers.ts'

/** Hints of a server about a tool that an approval rule may name. */
const MARKS: Readonly<Record<string, (hints: NonNullable<CatalogTool['annotations']>) => boolean>> =
  {
    // As MCP reads missing hints: a tool may write and destroy unless it says otherwise.
    '@writes': ({ readOnlyHint }) => readOnlyHint !== true,
    '@destructive': ({ readOnlyHint, destructiveHint }) =>
      readOnlyHint !== true && destructiveHint !== false,
    '@open-world': ({ openWorldHint }) => openWorldHint !== false,
  }

/** The marks that can be named. */
export const APPROVAL_MARKS: readonly string[] = Object.keys(MARKS)

/** Whether calls of a tool must be allowed by the user; `annotations` are read only where a rule needs them. */
export type ApprovalRule = (
  server: string,
  tool: string,
  annotations: () => CatalogTool['annotations'],
) => boolean

/** The rule of a list such as `filesystem.write_*`, `mail.*`, `@destructive`; `*` stands for anything. */
export function approvalRule(rules: readonly string[]): ApprovalRule {
  const marks = rules.filter((rule) => rule.startsWith('@'))
  const patterns = patternsOf(rules).map(toRegExp)
  return (server, tool, annotations) => {
    const name = `${server}.${tool}`
    if (patterns.some((pattern) => pattern.test(name))) return true
    if (marks.length === 0) return false
    const hints = annotations() ?? {}
    return marks.some((mark) => MARKS[mark]?.(hints) === true)
  }
}

/** Whether a text can be one of these rules. */
export function isApprovalRule(rule: string): boolean {
  return rule.startsWith('@') ? APPROVAL_MARKS.includes(rule) : /^[^.\s]+\..+$|^\*$/.test(rule)
}

/** The patterns that match no tool of any server. A configured server that is not ready may have what they mean. */
export function unmatchedPatterns(
  rules: readonly string[],
  catalog: readonly CatalogEntry[],
): string[] {
  const patterns = patternsOf(rules)
  const supervisors = catalog.filter((entry) => entry.kind === 'supervisor')
  if (patterns.length === 0 || supervisors.length === 0) return []
  const ready = viewServers(catalog).filter(({ state }) => state === 'ready')
  const isReady = new Set<string>(ready.map(({ server }) => server))
  const awaited = supervisors
    .flatMap(({ configured = [] }) => configured)
    .filter((server) => !isReady.has(server))
  const names = ready.flatMap(({ server, tools }) => tools.map(({ name }) => `${server}.${name}`))
  return patterns.filter((rule) => {
    const [serverPart = ''] = rule.split('.', 1)
    const [mayMean, pattern] = [toRegExp(serverPart), toRegExp(rule)]
    return (
      !awaited.some((server) => mayMean.test(server)) && !names.some((name) => pattern.test(name))
    )
  })
}

function patternsOf(rules: readonly string[]): readonly string[] {
  return rules.filter((rule) => !rule.startsWith('@'))
}

function toRegExp(rule: string): RegExp {
  const parts = rule
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  // Tool names come from servers, and may have line breaks that `.` alone does not match.
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
