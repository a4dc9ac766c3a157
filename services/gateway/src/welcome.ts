import type { CatalogEntry } from '@mcp-host/contracts'
import { viewServers } from '@mcp-host/contracts'

/** Limit for the servers that are named in one list. */
const MAX_NAMED = 5

/**
 * The greeting of a new client: the model, the tools that are ready, and the servers that are not, without the hidden
 * ones.
 */
export function welcome(
  entries: readonly CatalogEntry[],
  isHidden: (server: string) => boolean = () => false,
): string {
  const model = entries.find((entry) => entry.kind === 'model')
  const parts = [
    'Welcome to mcp-host.',
    model === undefined ? 'No model is ready yet.' : `${model.model} answers.`,
    servers(entries, isHidden),
    model?.notice ?? '',
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function servers(entries: readonly CatalogEntry[], isHidden: (server: string) => boolean): string {
  const views = viewServers(entries).filter(({ server }) => !isHidden(server))
  const ready = views.filter(({ state }) => state === 'ready')
  const unavailable = views.filter(({ state }) => state === 'unavailable')
  // A supervisor lists its servers before it reports the state of each.
  const configured = new Set([
    ...views.map(({ server }) => server),
    ...entries
      .flatMap((entry) => (entry.kind === 'supervisor' ? Object.keys(entry.servers) : []))
      .filter((server) => !isHidden(server)),
  ])
  const known = new Set<string>([...ready, ...unavailable].map(({ server }) => server))
  const starting = Array.from(configured).filter((name) => !known.has(name))
  const tools = ready.reduce((sum, each) => sum + each.tools.length, 0)
  const isAll = ready.length === configured.size
  const of = isAll ? `${ready.length}` : `${ready.length} of ${configured.size}`
  return [
    `${tools === 1 ? '1 tool is' : `${tools} tools are`} ready, of ${of} MCP server${configured.size === 1 ? '' : 's'}`,
    listed('starting', starting),
    listed(
      'unavailable',
      unavailable.map(({ server }) => server),
    ),
  ]
    .filter((part) => part !== '')
    .join('; ')
    .concat('.')
}

function listed(state: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${state}: ${names.slice(0, MAX_NAMED).join(', ')}${more}`
}
