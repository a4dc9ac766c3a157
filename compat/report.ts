import { Failure } from './observe.ts'
import type { ServerResult } from './run-compat.ts'
import type { RealServer } from './servers.ts'

/** Of one server, more of them rarely say more. */
const MOST_DIFFERENCES = 20

export function isAsDirect({ faults, differences }: ServerResult): boolean {
  return faults.length === 0 && differences.every(({ exception }) => exception !== undefined)
}

/** A line for a server, and one for each difference that is not listed. */
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
  const rest = lines.length - MOST_DIFFERENCES
  const shown = [
    ...faults,
    ...lines.slice(0, MOST_DIFFERENCES),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
  ]
  return [head, ...shown].join('\n  ')
}

function countOf(list: unknown): number {
  return list instanceof Failure ? 0 : Object.keys(list ?? {}).length
}

/** The reasons that applied, and the counts as the last line. */
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

/** A row of a Markdown table for each server, as docs/reference/compat.md has them. */
export function describeServers(servers: readonly RealServer[]): string {
  return servers
    .map(({ name, package: id, version, calls = [] }) => {
      const tools = new Set(calls.map(({ tool }) => `\`${tool}\``))
      return `| ${[name, `\`${id}\``, version, Array.from(tools).join(', ')].join(' | ')} |`
    })
    .join('\n')
}
