import type { JsonRpcRequest } from '../messages/classify.ts'
import type { MissingServer } from '../listing/virtual-server.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ListName } from '../listing/server-listing.ts'
import type { Params } from '../messages/json-rpc.ts'
import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ToolSearch } from '../listing/tool-search.ts'
import { noSuchTool, SEARCH_TOOLS } from '../listing/tool-search.ts'
import { MODERN_VERSIONS, negotiated } from '../messages/versions.ts'

/** The name and version of this host. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
}

const LISTS: ReadonlyMap<string, ListName> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
])

/** The field of a list that names the servers that it is without, or that ask the caller to log in. */
const MISSING = 'mcp-host/missing'

/** The summary changes whenever a server does, so it must not be cached. */
const FRESH = { ttlMs: 0, cacheScope: 'private' }

/** The answers of the gateway itself, as JSON. A search of tools waits in a queue. Throws `JsonRpcError`. */
export function answerLocally(
  { method, params, era }: JsonRpcRequest,
  listing: MergedListing,
  serverInfo: ServerInfo,
  missing: readonly MissingServer[] = [],
): string | Promise<string> {
  const list = LISTS.get(method)
  if (list !== undefined) {
    const page = pageOf(list, params, era, listing)
    const notes = missing.length === 0 ? {} : { [MISSING]: missing }
    if (era === 'modern') {
      const caching = missing.length === 0 ? listing.caching(list) : FRESH
      return `${modernResult(caching, serverInfo, notes).slice(0, -1)},${page}}`
    }
    return missing.length === 0 ? `{${page}}` : `{"_meta":${JSON.stringify(notes)},${page}}`
  }
  const isOlder = era === 'legacy'
  if (method === 'tools/call' && listing.toolSearch !== undefined) {
    return answerSearch(params, listing.toolSearch).then((result) =>
      isOlder ? JSON.stringify(result) : modernResult(result, serverInfo),
    )
  }
  if (isOlder && method === 'initialize') {
    const protocolVersion = negotiated(params['protocolVersion'])
    return JSON.stringify({ protocolVersion, ...about(listing), serverInfo })
  }
  if (isOlder && method === 'ping') return '{}'
  if (!isOlder && method === 'server/discover') {
    const discovered = { ...FRESH, supportedVersions: MODERN_VERSIONS, ...about(listing) }
    return modernResult(discovered, serverInfo)
  }
  const status = isOlder ? 200 : 404
  throw new JsonRpcError(JsonRpcCode.methodNotFound, `Method not found: ${method}`, { status })
}

async function answerSearch(params: Params, toolSearch: ToolSearch): Promise<object> {
  return params['name'] === SEARCH_TOOLS ? toolSearch.run(params) : noSuchTool(params)
}

function pageOf(
  list: ListName,
  { cursor }: Params,
  era: JsonRpcRequest['era'],
  listing: MergedListing,
): string {
  const page =
    cursor === undefined || typeof cursor === 'string' ? listing.page(list, cursor, era) : undefined
  if (page !== undefined) return page
  throw new JsonRpcError(JsonRpcCode.invalidParams, 'cursor: is unknown; begin without one')
}

function about(listing: MergedListing): object {
  const instructions = instructionsOf(listing)
  return {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: {
        listChanged: true,
        ...(listing.can('resources', 'subscribe') ? { subscribe: true } : {}),
      },
      ...(listing.can('completions') ? { completions: {} } : {}),
      ...(listing.can('logging') ? { logging: {} } : {}),
    },
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** Adds the envelope of 2026-07-28 to a result. */
function modernResult(result: object, serverInfo: ServerInfo, notes: object = {}): string {
  const _meta = { [MetaKey.serverInfo]: serverInfo, ...notes }
  return JSON.stringify({ resultType: 'complete', _meta, ...result })
}

/** The instructions of the bundle and of its servers. */
function instructionsOf({
  servers: serverListings,
  instructions: first,
}: MergedListing): string | undefined {
  const theirs = serverInstructions(serverListings)
  const all = [first, theirs].filter((each) => each !== undefined)
  return all.length === 0 ? undefined : all.join('\n\n')
}

function serverInstructions(serverListings: MergedListing['servers']): string | undefined {
  const [only, ...others] = serverListings.filter(({ instructions = '' }) => instructions !== '')
  if (only === undefined) return undefined
  if (others.length === 0) return only.instructions
  return [only, ...others].map((each) => `# ${each.server}\n\n${each.instructions}`).join('\n\n')
}
