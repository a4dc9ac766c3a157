import type { CatalogTool, ToolCall, ToolCallBlock } from '@mcp-host/contracts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'

/** What a server says of a tool, and the marks that an approval rule may name. */
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

/**
 * Whether a call must be allowed by the user, by rules such as `filesystem.write_*`, `mail.*` or
 * `@destructive`; `*` stands for anything.
 */
export function approvalRule(
  rules: readonly string[],
  annotationsOf: (server: string, tool: string) => CatalogTool['annotations'],
): (call: ToolCallBlock) => boolean {
  const marks = rules.filter((rule) => rule.startsWith('@'))
  const patterns = rules.filter((rule) => !rule.startsWith('@')).map(toPattern)
  return ({ server, tool }) => {
    if (server === undefined || tool === undefined) return false
    const name = `${server}.${tool}`
    if (patterns.some((pattern) => pattern.test(name))) return true
    if (marks.length === 0) return false
    const hints = annotationsOf(server, tool) ?? {}
    return marks.some((mark) => MARKS[mark]?.(hints) === true)
  }
}

function toPattern(rule: string): RegExp {
  const parts = rule
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

/** Asks the user whether a call may run. */
export async function askApproval(
  { limits }: Pick<TurnDeps, 'limits'>,
  { writer }: Pick<ClaimedTurn, 'writer'>,
  { block }: ToolCall,
): Promise<void> {
  const { id: call, server = '', tool = '' } = block
  await writer.append({
    type: 'approval-required',
    call,
    server,
    tool,
    id: crypto.randomUUID(),
    message: `May ${server}.${tool} be called?`,
    arguments: block.arguments,
    expiresAt: Date.now() + limits.approvalTimeoutMs,
  })
  await writer.folded()
}
