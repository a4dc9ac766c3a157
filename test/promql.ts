import { parser } from '@prometheus-io/lezer-promql'

/** The names of the metrics that a PromQL expression reads. Throws for one that is not valid. */
export function metricsOf(expression: string): string[] {
  const names: string[] = []
  parser.parse(expression).iterate({
    enter({ type, name, from, to, node }) {
      if (type.isError) throw new Error(`"${expression}" is wrong at character ${from}`)
      const isMetric = name === 'Identifier' && node.parent?.name === 'VectorSelector'
      if (isMetric) names.push(expression.slice(from, to))
    },
  })
  return names
}

/** The name of the metric of a sample: histograms have several samples. */
export function metricOfSample(sample: string, metrics: ReadonlySet<string>): string | undefined {
  const base = sample.replace(/_(bucket|sum|count)$/, '')
  return [sample, base].find((name) => metrics.has(name))
}
