// Dashboards: every query is PromQL, over metrics that a service declares.
import { describe, expect, test } from 'vitest'
import { dashboards } from '../tools/dashboards/index.ts'
import { toGrafana } from '../tools/dashboards/to-grafana.ts'
import { declaredMetrics } from '../tools/docs/metrics-reference.ts'
import { metricOfSample, metricsOf } from './promql.ts'
import { readRules } from './rule-files.ts'

interface GrafanaPanel {
  readonly id: number
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
}

const names = new Set(declaredMetrics().map(({ name }) => name))
const recorded = new Set(readRules().flatMap(({ record }) => record ?? []))
const metrics = Object.values(dashboards).flatMap(({ rows }) =>
  rows.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) =>
      queries.flatMap(({ expr }) => metricsOf(expr.replaceAll('$__rate_interval', '5m'))),
    ),
  ),
)

test('there are dashboards for the overview, chat, MCP servers, models and the bus', () => {
  expect(Object.keys(dashboards)).toEqual(['overview', 'chat', 'mcp-servers', 'models', 'bus'])
  const uids = Object.values(dashboards).map(({ uid }) => uid)
  expect(new Set(uids).size).toBe(uids.length)
})

test('every metric of a query is one that a service declares, or the result of a rule', () => {
  const unknown = metrics.filter(
    (name) =>
      metricOfSample(name, names) === undefined &&
      !recorded.has(name) &&
      // Those of prom-client; a test compares them with a running host.
      !/^(process|nodejs)_/.test(name),
  )
  expect(unknown).toEqual([])
})

test('every declared metric is in a dashboard or a rule', () => {
  const inRules = readRules().flatMap(({ expr }) => metricsOf(expr))
  const used = new Set([...metrics, ...inRules].map((name) => metricOfSample(name, names)))
  expect([...names].filter((name) => !used.has(name))).toEqual([])
})

describe.each(Object.entries(dashboards))('%s', (_, dashboard) => {
  test('panels have ids of their own and do not overlap in the grid', () => {
    const { panels } = JSON.parse(toGrafana(dashboard)) as { panels: GrafanaPanel[] }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (__, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })
})
