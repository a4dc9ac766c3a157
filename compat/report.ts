import { Failure } from './observe.ts'
import type { ServerResult } from './run-compat.ts'
import type { RealServer } from './servers.ts'

/** Differences that are printed per server. */
const MAX_DIFFERENCES = 20

export function isAsDirect({ faults, differences }: ServerResult): boolean {
  return faults.length === 0 && differences.every(({ exception }) => exception !== undefined)
}

/** One line for a server, and one for each difference that is not an exception. */
export function describeResult(result: ServerResult): string {
  const { name, faults, differences, direct } = result
  const unlisted = differences.filter(({ exception }) => exception === undefined)
  const counts = ['tools', 'prompts', 'resources'].map((list) => `${countOf(direct[list])} ${list}`)
  const verdict = isAsDirect(result) ? 'as directly' : 'differs'
  const listed = differences.length - unlisted.length
  const head = `${name}: ${verdict}; ${counts.join(', ')}${listed > 0 ? `; ${listed} listed differences` : ''}`
  const lines = unlisted.map(({ sdk, mount, path, text }) => {
    const place = mount === '/mcp' ? '/mcp' : 'its own mount'
    return `${sdk} at ${place}, ${path.join(' › ')}: ${text}`
  })
  const rest = lines.length - MAX_DIFFERENCES
  const shown = [
    ...faults,
    ...lines.slice(0, MAX_DIFFERENCES),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
  ]
  return [head, ...shown].join('\n  ')
}

function countOf(list: unknown): number {
  return list instanceof Failure ? 0 : Object.keys(list ?? {}).length
}

/** The reasons of the exceptions that applied, and a last line with the counts. */
export function describeReport(results: readonly ServerResult[]): string {
  const listed = results.flatMap(({ differences }) =>
    differences.flatMap(({ exception }) => exception ?? []),
  )
  const reasons = Array.from(
    Map.groupBy(listed, ({ why }) => why),
    ([why, all]) => `${all.length} differences: ${why}`,
  )
  const good = results.filter(isAsDirect).length
  const last = `${results.length} servers: ${good} as directly, ${results.length - good} differ; ${listed.length} listed differences`
  return [...reasons, last].join('\n')
}

/** A row of the Markdown table in docs/reference/compat.md for each server. */
export function describeServers(servers: readonly RealServer[]): string {
  return servers
    .map(({ name, package: id, version, calls = [] }) => {
      const tools = new Set(calls.map(({ tool }) => `\`${tool}\``))
      return `| ${[name, `\`${id}\``, version, Array.from(tools).join(', ')].join(' | ')} |`
    })
    .join('\n')
}
