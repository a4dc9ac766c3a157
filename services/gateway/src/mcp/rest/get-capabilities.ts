import { createHash } from 'node:crypto'
import type { CatalogView } from '@mcp-host/bus'
import { ServerEntry, unreportedServers, viewServers } from '@mcp-host/contracts'
import {
  type AccessPolicy,
  LEGACY_VERSIONS,
  type ListName,
  MAX_REQUEST_BYTES,
  type MergedListing,
  MODERN_VERSIONS,
  type Params,
} from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { ModelList } from '../../status-summary.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { VirtualServers } from '../virtual-servers.ts'
import { MAX_TIMEOUT_MS } from './rest-schemas.ts'

const count = z.number().int().nonnegative()
const { state, scope } = ServerEntry.shape

const Server = z.object({
  server: z.string().describe('Name of the server, the prefix of its items: `server__tool`.'),
  state: state.describe('Only a `ready` server takes requests.'),
  error: z.string().optional().describe('Why it is not ready.'),
  scope: scope.describe('`session`: each caller has a process of its own.'),
  tools: count.describe('Number of its tools.'),
  prompts: count.describe('Number of its prompts.'),
  resources: count.describe('Number of its listed resources.'),
  resourceTemplates: count.describe('Number of its resource templates.'),
})

const Capabilities = z
  .object({
    protocolVersions: z.array(z.string()).describe('Revisions of MCP at `/mcp`, newest first.'),
    model: z.string().optional().describe('Default model of chats, as `provider/model`.'),
    servers: z.array(Server).describe('The MCP servers.'),
    tools: z.array(z.string()).describe('Names of tools, as `POST /mcp/tools/call` takes them.'),
    prompts: z
      .array(z.string())
      .describe('Names of prompts, as `POST /mcp/prompts/get` takes them.'),
    resources: z
      .array(z.string())
      .describe('URIs of resources, as `POST /mcp/resources/read` takes them.'),
    resourceTemplates: z
      .array(z.string())
      .describe('URI templates of resources that can also be read.'),
    limits: z
      .object({
        maxRequestBytes: count.describe('Largest size of a request body.'),
        maxTimeoutMs: count.describe('Largest value of `timeoutMs`.'),
      })
      .describe('Limits of requests.'),
  })
  .meta({
    id: 'Capabilities',
    description: 'The servers, items and limits of the host at this moment.',
  })
type Capabilities = z.infer<typeof Capabilities>

export interface CapabilitiesDeps {
  readonly virtualServers: VirtualServers
  readonly policy: AccessPolicy
  readonly catalog: CatalogView
  readonly models: () => ModelList
}

/** A summary of all items of the host in one small answer. */
export function addGetCapabilities(
  api: Api,
  { virtualServers, policy, catalog, models }: CapabilitiesDeps,
): void {
  api.get(
    '/capabilities',
    {
      schema: {
        tags: ['mcp'],
        operationId: 'getCapabilities',
        summary: 'Get the MCP servers, the names of their items, and limits',
        description: 'The same answer has the same `ETag`: send it as `If-None-Match`.',
        response: {
          200: jsonAnswer('The present state.', Capabilities),
          304: z.undefined().describe('Nothing has changed since the `ETag` of `If-None-Match`.'),
          ...faults(400, 503),
        },
      },
    },
    async ({ headers, principal }, reply) => {
      await virtualServers.settling
      const { default: answering } = models()
      const { listing } = policy.view(principal, virtualServers.all())
      const body: Capabilities = {
        protocolVersions: [...MODERN_VERSIONS, ...LEGACY_VERSIONS],
        ...(answering && { model: `${answering.provider}/${answering.model}` }),
        servers: serversOf(catalog, listing).filter(
          ({ server }) => !policy.isServerHidden(principal, server),
        ),
        tools: namesOf(listing, 'tools', 'name'),
        prompts: namesOf(listing, 'prompts', 'name'),
        resources: namesOf(listing, 'resources', 'uri'),
        resourceTemplates: namesOf(listing, 'resourceTemplates', 'uriTemplate'),
        limits: { maxRequestBytes: MAX_REQUEST_BYTES, maxTimeoutMs: MAX_TIMEOUT_MS },
      }
      const json = JSON.stringify(body)
      const tag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`
      reply.headers({ etag: tag, 'cache-control': 'private, no-cache' })
      if (isKnown(headers['if-none-match'], tag)) return reply.code(304).send()
      return reply.type('application/json').send(json)
    },
  )
}

/** All servers, with the numbers of their items in a listing. */
function serversOf({ entries }: CatalogView, listing: MergedListing): Capabilities['servers'] {
  const listed = new Map(listing.servers.map((each) => [each.server, each]))
  const none = { tools: 0, prompts: 0, resources: 0, resourceTemplates: 0 }
  const unreported = unreportedServers(entries.values()).map((server) => {
    return { server, state: 'starting' as const, ...none }
  })
  const reported = viewServers(entries.values()).map(({ server, state: now, error, entry }) => {
    const items = listed.get(server) ?? {
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    }
    return {
      server,
      state: now,
      ...(error === undefined ? {} : { error }),
      ...(entry.scope === undefined ? {} : { scope: entry.scope }),
      tools: items.tools.length,
      prompts: items.prompts.length,
      resources: items.resources.length,
      resourceTemplates: items.resourceTemplates.length,
    }
  })
  return [...reported, ...unreported].toSorted((one, other) => (one.server < other.server ? -1 : 1))
}

/** The names of a list's items. */
function namesOf(listing: MergedListing, list: ListName, field: string): string[] {
  const items = JSON.parse(listing.text(list)) as Params[]
  return items.map((item) => String(item[field]))
}

/** Whether a header has the tag, also in its weak form, which proxies that compress use. */
function isKnown(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
