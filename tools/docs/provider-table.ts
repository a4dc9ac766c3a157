import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { providers } from '@mcp-host/llm-worker/providers'

const FILE = join(import.meta.dirname, '../../docs/reference/models.md')
const HEADER = ['Provider', '`LLM_PROVIDER`', 'Key', 'Default model']

/** The page on models, with the table of all providers from the code. */
export function modelsPage(): string {
  const rows = Object.entries(providers).map(([name, provider]) => {
    const { title, keyVariable, isKeyOptional, isLocal, defaultModel, connect } = provider
    const key = keyVariable === undefined ? '' : code(keyVariable)
    const usual = isLocal === true ? 'the first it has' : 'to be named'
    const model = defaultModel === undefined ? usual : code(defaultModel)
    return [
      title,
      code(name),
      isKeyOptional === true ? `${key}, optional` : key,
      // The demo model has no choice of models.
      connect === undefined ? '' : model,
    ]
  })
  const widths = HEADER.map((_, column) =>
    Math.max(...[HEADER, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[], pad = ' '): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0, pad)).join(' | ')} |`
  const table = [line(HEADER), line(['', '', '', ''], '-'), ...rows.map((row) => line(row))]
  return readFileSync(FILE, 'utf8').replace(
    /^\| Provider .*\n(?:\|.*\n)*/m,
    () => `${table.join('\n')}\n`,
  )
}

function code(text: string): string {
  return `\`${text}\``
}
