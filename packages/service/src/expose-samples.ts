import type { Registry } from 'prom-client'

/** Values of one metric by their labels. */
export type Samples = readonly (readonly [
  labels: Readonly<Record<string, string | number>>,
  value: number,
])[]

interface Configuration {
  readonly name: string
  readonly help: string
  readonly labelNames?: string[]
}

interface Metric {
  reset(): void
  remove(labels: object): void
  inc(labels: Readonly<Record<string, string | number>>, value: number): void
}

/**
 * Registers a metric whose values are read at each scrape, so that counting costs callers nothing. When `read` fails,
 * the metric has no values in this scrape.
 */
export function exposeSamples(
  registry: Registry,
  MetricClass: new (
    configuration: Configuration & { registers: Registry[]; collect: () => Promise<void> },
  ) => Metric,
  { read, ...configuration }: Configuration & { readonly read: () => Samples | Promise<Samples> },
): void {
  const metric = new MetricClass({
    ...configuration,
    registers: [registry],
    async collect() {
      let samples: Samples = []
      try {
        samples = await read()
      } catch {
        // The reasons, such as an absent broker, have metrics and log lines of their own.
      }
      metric.reset()
      // A metric without labels begins with the value 0, which nobody has read.
      metric.remove({})
      for (const [labels, value] of samples) metric.inc(labels, value)
    },
  })
}
