import type { Dashboard, Panel } from './dashboard.ts'

const GRID_WIDTH = 24
const ROW_HEIGHT = 1
const SIZES = { lines: { w: 8, h: 8 }, number: { w: 4, h: 4 } } as const
/** The variable of each dashboard that names the source of data. */
const SOURCE = { type: 'prometheus', uid: '${source}' }

/** The JSON of a dashboard, as Grafana 10 and later import it. */
export function toGrafana({ uid, title, rows }: Dashboard): string {
  const panels: object[] = []
  let y = 0
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: GRID_WIDTH, h: ROW_HEIGHT },
      panels: [],
    })
    y += ROW_HEIGHT
    let x = 0
    let height = 0
    for (const panel of row.panels) {
      const { w, h } = SIZES[panel.kind]
      if (x + w > GRID_WIDTH) {
        y += height
        x = 0
        height = 0
      }
      panels.push({ id: panels.length + 1, ...toPanel(panel), gridPos: { x, y, w, h } })
      x += w
      height = Math.max(height, h)
    }
    y += height
  }
  const dashboard = {
    uid,
    title: `mcp-host: ${title}`,
    tags: ['mcp-host'],
    editable: false,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [{ name: 'source', label: 'Source', type: 'datasource', query: 'prometheus' }],
    },
    links: [{ title: 'mcp-host', type: 'dashboards', tags: ['mcp-host'], asDropdown: true }],
    panels,
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}

function toPanel({ title, kind, unit, queries, description }: Panel): object {
  return {
    type: kind === 'lines' ? 'timeseries' : 'stat',
    title,
    ...(description === undefined ? {} : { description }),
    datasource: SOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend = '' }, index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource: SOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}
