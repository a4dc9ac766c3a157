import type { CatalogView } from '@mcp-host/bus'
import { unmatchedPatterns } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'

export interface WarnOfUnmatchedDeps {
  readonly catalog: CatalogView
  readonly logger: Pick<Logger, 'warn'>
}

/** Logs a warning, once for each approval rule that matches no tool, such as a mistyped one. Ends when disposed. */
export function warnOfUnmatched(
  { catalog, logger }: WarnOfUnmatchedDeps,
  rules: readonly string[],
): Disposable {
  const warned = new Set<string>()
  const check = (): void => {
    const open = rules.filter((rule) => !warned.has(rule))
    for (const rule of unmatchedPatterns(open, Array.from(catalog.entries.values()))) {
      warned.add(rule)
      const fields = { component: 'approval', action: 'check', rule }
      logger.warn(fields, `TOOL_APPROVAL: ${rule} matches no tool, so it protects nothing`)
    }
  }
  check()
  return catalog.onChange(check)
}
