// Writes the documents that are generated from the code. With --check, lists those that are out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboards } from './dashboards/index.ts'
import { toGrafana } from './dashboards/to-grafana.ts'
import { busAccounts } from './docs/bus-accounts.ts'
import { busReference, busSchemas } from './docs/bus-reference.ts'
import { composeEnv } from './docs/compose-env.ts'
import { configReference, envExample } from './docs/config-reference.ts'
import { libraryReference } from './docs/library-reference.ts'
import { mcpSchema } from './docs/mcp-schema.ts'
import { openApi } from './docs/openapi.ts'
import { metricsReference } from './docs/metrics-reference.ts'
import { modelsPage } from './docs/provider-table.ts'

const root = join(import.meta.dirname, '..')

const documents: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/bus.md': busReference,
  'docs/reference/bus-accounts.md': busAccounts,
  'docs/reference/bus.schema.json': busSchemas,
  'docs/reference/config.md': configReference,
  'docs/reference/metrics.md': metricsReference,
  'docs/reference/models.md': modelsPage,
  'docs/reference/openapi.json': openApi,
  ...Object.fromEntries(
    Object.entries(dashboards).map(([name, dashboard]) => [
      `deploy/observability/grafana/dashboards/${name}.json`,
      () => toGrafana(dashboard),
    ]),
  ),
  '.env.example': envExample,
  'deploy/compose/gateway.env': () => composeEnv('gateway'),
  'deploy/compose/mcp-supervisor.env': () => composeEnv('mcp-supervisor'),
  'deploy/compose/orchestrator.env': () => composeEnv('orchestrator'),
  'packages/mcp-host/API.md': libraryReference,
  'packages/mcp-host/mcp.schema.json': mcpSchema,
}

function isCurrent(file: string, content: string): boolean {
  try {
    return readFileSync(join(root, file), 'utf8') === content
  } catch {
    // A missing document is written.
    return false
  }
}

const made = await Promise.all(
  Object.entries(documents).map(async ([file, make]) => ({ file, content: await make() })),
)
const stale = made.filter(({ file, content }) => !isCurrent(file, content))

if (!process.argv.includes('--check')) {
  for (const { file, content } of stale) {
    writeFileSync(join(root, file), content)
    console.log(`wrote ${file}`)
  }
} else if (stale.length > 0) {
  console.log(`out of date: ${stale.map(({ file }) => file).join(', ')}\nRun: npm run generate`)
  process.exitCode = 1
}
