import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICES } from '../host/service-process.ts'

const root = join(import.meta.dirname, '..', '..')

/** A metric as its service declares it. */
export interface DeclaredMetric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** The folder of its package. */
  readonly place: string
}

const DECLARATION =
  /\b(Counter|Gauge|Histogram)(?:Configuration<\w+> =|\(|,)\s*\{\s*name: '(mcp_host_\w+)',\s*help:\s*(?:'([^']*)'|"([^"]*)"),(?:\s*labelNames: \[([^\]]*)\],)?/g

/** The metrics that the sources declare, by name. A test compares them with those of a running host. */
export function declaredMetrics(): DeclaredMetric[] {
  const files = globSync('{services/*,packages/{mcp-bus,service}}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts'],
  })
  return files
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const [folder = '', name = ''] = file.split('/')
      return Array.from(text.matchAll(DECLARATION), ([, type = '', metric = '', ...rest]) => {
        const [single, double, labels = ''] = rest
        return {
          name: metric,
          // The pattern has only these three.
          type: type.toLowerCase() as DeclaredMetric['type'],
          help: single ?? double ?? '',
          labels: labels.match(/\w+/g) ?? [],
          place: `${folder}/${name}`,
        }
      })
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

const INTRODUCTION = `# Metrics

Each service has \`/metrics\` in the format of Prometheus on its operations server (\`OPS_HOST\`, \`OPS_PORT\`); a gateway also at
\`PORT\`, for admins. The label \`service\` names the service, so a scrape configuration must not set a label of that name. All
services also have the \`process_*\` and \`nodejs_*\` metrics of prom-client.

Labels have a limited number of values: names from the configuration, routes, and \`other\` for the rest. \`tool\` has at most
1,000 values for each server.

[Alerts](../guides/alerts.md) and the dashboards in \`deploy/observability/grafana/dashboards\` use them.
`

const SECTIONS: readonly (readonly [title: string, place: string])[] = [
  ...SERVICES.map((name) => [name, `services/${name}`] as const),
  ['Services that host MCP servers', 'packages/mcp-bus'],
  ['Several services', 'packages/service'],
]

/** The page of all metrics. */
export function metricsReference(): string {
  const metrics = declaredMetrics()
  const sections = SECTIONS.map(([title, place]) => {
    const rows = metrics
      .filter((metric) => metric.place === place)
      .map(({ name, type, labels, help }) => {
        const shown = labels.map((label) => `\`${label}\``).join(', ')
        return `| \`${name}\` | ${type} | ${shown} | ${help} |`
      })
    return `## ${title}\n\n| Name | Type | Labels | Meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return [INTRODUCTION, ...sections].join('\n')
}
