import { createHash } from 'node:crypto'
import type { CatalogView } from '@mcp-host/bus'
import { ServerEntry, untoldServers, viewServers } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ModelList } from '../../status-summary.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { MergedListing } from '../core/merged-listing.ts'
import type { ListName } from '../core/server-listing.ts'
import type { Params } from '../core/json-rpc.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../core/versions.ts'
import { MAX_REQUEST_BYTES } from '../core/limits.ts'
import type { VirtualServers } from '../virtual-servers.ts'
import { MAX_TIMEOUT_MS } from './rest-schemas.ts'

const count = z.number().int().nonnegative()
const { state, scope } = ServerEntry.shape

const Server = z.object({
  server: z.string().describe('Its name, which what it offers begins with: `server__tool`.'),
  state: state.describe('Only what is `ready` can be asked.'),
  error: z.string().optional().describe('Why it is not ready.'),
  scope: scope.describe('`session`: each caller has a process of its own.'),
  tools: count.describe('How many it has.'),
  prompts: count.describe('How many it has.'),
  resources: count.describe('How many it lists.'),
  resourceTemplates: count.describe('How many it has.'),
})

const Capabilities = z
  .object({
    protocolVersions: z.array(z.string()).describe('Of MCP, at `/mcp`; the newest first.'),
    model: z.string().optional().describe('Who answers in chats, as `provider/model`.'),
    servers: z.array(Server).describe('The MCP servers.'),
    tools: z.array(z.string()).describe('Their names, as `POST /mcp/tools/call` takes them.'),
    prompts: z.array(z.string()).describe('Their names, as `POST /mcp/prompts/get` takes them.'),
    resources: z.array(z.string()).describe('URIs, as `POST /mcp/resources/read` takes them.'),
    resourceTemplates: z.array(z.string()).describe('Patterns of URIs that can be read as well.'),
    limits: z
      .object({
        maxRequestBytes: count.describe('Of a body.'),
        maxTimeoutMs: count.describe('Of `timeoutMs`.'),
      })
      .describe('How much is taken at most.'),
  })
  .meta({ id: 'Capabilities', description: 'What the host offers right now.' })
type Capabilities = z.infer<typeof Capabilities>

interface CapabilitiesDeps {
  readonly virtualServers: VirtualServers
  readonly catalog: CatalogView
  readonly models: () => ModelList
}

/** A summary of all items of the host in one small answer. */
export function addCapabilitiesRoute(
  api: Api,
  { virtualServers, catalog, models }: CapabilitiesDeps,
): void {
  api.get(
    '/capabilities',
    {
      schema: {
        tags: ['mcp'],
        operationId: 'getCapabilities',
        summary: 'What the host offers: MCP servers, names of what they have, limits',
        description: 'The same answer has the same `ETag`: send it as `If-None-Match`.',
        response: {
          200: jsonAnswer('As it is now.', Capabilities),
          304: z.undefined().describe('Nothing has changed since the `ETag` of `If-None-Match`.'),
          ...faults(400, 503),
        },
      },
    },
    async ({ headers }, reply) => {
      await virtualServers.settling
      const { default: answering } = models()
      const { listing } = virtualServers.all()
      const body: Capabilities = {
        protocolVersions: [...MODERN_VERSIONS, ...LEGACY_VERSIONS],
        ...(answering && { model: `${answering.provider}/${answering.model}` }),
        servers: serversOf(catalog),
        tools: namesOf(listing, 'tools', 'name'),
        prompts: namesOf(listing, 'prompts', 'name'),
        resources: namesOf(listing, 'resources', 'uri'),
        resourceTemplates: namesOf(listing, 'resourceTemplates', 'uriTemplate'),
        limits: { maxRequestBytes: MAX_REQUEST_BYTES, maxTimeoutMs: MAX_TIMEOUT_MS },
      }
      const json = JSON.stringify(body)
      const tag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`
      reply.headers({ etag: tag, 'cache-control': 'no-cache' })
      if (isKnown(headers['if-none-match'], tag)) return reply.code(304).send()
      return reply.type('application/json').send(json)
    },
  )
}

function serversOf({ entries }: CatalogView): Capabilities['servers'] {
  const none = { tools: 0, prompts: 0, resources: 0, resourceTemplates: 0 }
  const untold = untoldServers(entries.values()).map((server) => {
    return { server, state: 'starting' as const, ...none }
  })
  const told = viewServers(entries.values()).map(({ server, state: now, error, entry, tools }) => {
    const { prompts = [], resources = [], resourceTemplates = [] } = entry
    return {
      server,
      state: now,
      ...(error === undefined ? {} : { error }),
      ...(entry.scope === undefined ? {} : { scope: entry.scope }),
      tools: tools.length,
      prompts: prompts.length,
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
    }
  })
  return [...told, ...untold].toSorted((one, other) => (one.server < other.server ? -1 : 1))
}

/** The names of a list's items. */
function namesOf(listing: MergedListing, list: ListName, field: string): string[] {
  const items = JSON.parse(listing.text(list)) as Params[]
  return items.map((item) => String(item[field]))
}

/** Proxies that compress make a tag weak. */
function isKnown(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
