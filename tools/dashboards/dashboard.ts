/** How values are shown, by the names of Grafana. */
export type Unit = 'short' | 'ops' | 's' | 'bytes' | 'percentunit'

export interface Query {
  /** PromQL. `$__rate_interval` is a window that fits the shown time. */
  readonly expr: string
  /** Labels of the series, as `{{server}}`. */
  readonly legend?: string
}

export interface Panel {
  readonly title: string
  /** `lines`: over time. `number`: the present value. */
  readonly kind: 'lines' | 'number'
  readonly unit: Unit
  readonly queries: readonly Query[]
  /** Shown where the title does not say enough. */
  readonly description?: string
}

export interface Dashboard {
  /** Part of its address, which must not change. */
  readonly uid: string
  readonly title: string
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[]
}

export function lines(title: string, unit: Unit, ...queries: Query[]): Panel {
  return { title, kind: 'lines', unit, queries }
}

export function number(title: string, unit: Unit, expr: string): Panel {
  return { title, kind: 'number', unit, queries: [{ expr }] }
}

/** The rate of a counter by labels. */
export function rateBy(labels: string, counter: string): Query {
  const by = labels === '' ? '' : ` by (${labels})`
  return { expr: `sum${by} (rate(${counter}[$__rate_interval]))`, legend: legendOf(labels) }
}

/** The median, the 95th and the 99th percentile of a histogram. */
export function percentiles(histogram: string): Query[] {
  return [0.5, 0.95, 0.99].map((part) => ({
    expr: quantile(part, 'le', histogram),
    legend: `p${part * 100}`,
  }))
}

/** The 95th percentile of a histogram by labels. */
export function p95By(labels: string, histogram: string): Query {
  return { expr: quantile(0.95, `le, ${labels}`, histogram), legend: legendOf(labels) }
}

function quantile(part: number, labels: string, histogram: string): string {
  const [name = '', selector = ''] = histogram.split(/(?=\{)/)
  const rate = `rate(${name}_bucket${selector}[$__rate_interval])`
  return `histogram_quantile(${part}, sum by (${labels}) (${rate}))`
}

function legendOf(labels: string): string {
  return labels
    .split(', ')
    .filter((label) => label !== '')
    .map((label) => `{{${label}}}`)
    .join(' ')
}
