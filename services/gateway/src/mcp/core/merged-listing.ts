import type {
  Caching,
  ItemAddress,
  ListName,
  Named,
  ServerCaching,
  ServerListing,
} from './server-listing.ts'
import type { CatalogTool } from '@mcp-host/contracts'
import type { ParameterHeader } from 'mcp-host/routing'
import { parameterHeaders } from 'mcp-host/routing'
import { dottedName } from './listed-names.ts'
import { cachingsOf, together } from './list-caching.ts'
import { needsWrapping, withLegacyOutput } from './legacy-output.ts'
import { ListPages } from './list-pages.ts'
import type { Params } from './json-rpc.ts'
import { ResourceNames } from './resource-names.ts'
import { withPageNamed } from './result-links.ts'
import { isObject } from 'mcp-host/json'
import { SEARCH_DEFINITIONS, ToolSearch } from './tool-search.ts'
import type { Era } from './versions.ts'

/** A server that is not ready. */
export interface AbsentFrom {
  readonly why: string
  /** Whether it is worth waiting for. */
  readonly isComing: boolean
}

export interface MergedListingOptions {
  /** Said before what the servers say of how they are meant to be used. */
  readonly instructions?: string | undefined
  /** Whether tools are searched for, and not listed. */
  readonly toolSearch?: boolean
  /** The server that a name belongs to, where it is not there now; `undefined` when nothing is known of it. */
  readonly absent?: (name: string) => AbsentFrom | undefined
  /** Makes it once more, with what `replace` makes of each server. Default: under the same names. */
  readonly remake?: (replace: (serverListing: ServerListing) => ServerListing) => MergedListing
}

/**
 * The items of several servers under the names of one virtual server. Immutable: a change of the catalog makes another.
 */
export class MergedListing {
  readonly servers: readonly ServerListing[]
  readonly #tools = new Map<string, ItemAddress>()
  readonly #prompts = new Map<string, ItemAddress>()
  readonly #lists: Readonly<Record<ListName, readonly Params[]>>
  readonly #cachings = new Map<ListName, readonly ServerCaching[]>()
  /** Pages as JSON: they are asked for far more often than they change. */
  readonly #pages = new Map<ListName | 'legacyTools', ListPages>()
  readonly #headers = new Map<string, readonly ParameterHeader[]>()
  #annotations: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined
  readonly #texts = new Map<ListName, string>()
  readonly #own: ReadonlySet<string>
  readonly #readOnly: ReadonlySet<string>
  readonly #wrapped: ReadonlySet<string>
  readonly resourceNames: ResourceNames
  readonly instructions: string | undefined
  /** Set where tools are searched for instead of listed. */
  readonly toolSearch: ToolSearch | undefined
  readonly #remake: NonNullable<MergedListingOptions['remake']>
  readonly #absent: MergedListingOptions['absent']

  /** `nameOf`: what something of a server is called here. */
  constructor(
    serverListings: readonly ServerListing[],
    nameOf: (place: ItemAddress, list: 'tools' | 'prompts') => string,
    options: MergedListingOptions = {},
  ) {
    const { instructions, toolSearch = false } = options
    this.servers = serverListings
    this.#absent = options.absent
    this.#remake =
      options.remake ??
      ((replace) => new MergedListing(serverListings.map(replace), nameOf, options))
    this.instructions = instructions
    this.resourceNames = new ResourceNames(serverListings)
    this.#own = new Set(
      serverListings.flatMap(({ server, isOwn }) => (isOwn === true ? [server] : [])),
    )
    const named = (list: 'tools' | 'prompts', places: Map<string, ItemAddress>): Named[] =>
      serverListings.flatMap(({ server, [list]: items }) =>
        items.flatMap((item) => {
          const place = { server, name: item.name }
          const name = nameOf(place, list)
          // The first server with a name keeps it.
          if (places.has(name)) return []
          places.set(name, place)
          return [{ ...item, name }]
        }),
      )
    const tools = named('tools', this.#tools).map((tool) => {
      const { server = '' } = this.#tools.get(tool.name) ?? {}
      return withPageNamed(tool, (uri) => this.resourceNames.nameOf(server, uri))
    })
    const prompts = named('prompts', this.#prompts)
    const aliases = addAliases(this.#tools)
    addAliases(this.#prompts)
    const namesOf = (some: readonly Named[]): ReadonlySet<string> =>
      new Set(some.flatMap(({ name }) => [name, aliases.get(name) ?? name]))
    this.#readOnly = namesOf(tools.filter(saysReadOnly))
    // Unlisted tools have no listed schema, so their output is not wrapped.
    this.#wrapped = namesOf(toolSearch ? [] : tools.filter(needsWrapping))
    if (toolSearch) this.toolSearch = new ToolSearch(tools)
    this.#lists = {
      tools: toolSearch ? SEARCH_DEFINITIONS : tools,
      prompts,
      resources: serverListings.flatMap(({ server, resources }) =>
        resources.map((each) => {
          const uri = this.resourceNames.nameOf(server, each.uri)
          return uri === each.uri ? each : { ...each, uri }
        }),
      ),
      resourceTemplates: serverListings.flatMap(({ server, resourceTemplates }) =>
        resourceTemplates.map((each) => {
          const uriTemplate = this.resourceNames.templateNameOf(server, each.uriTemplate)
          return uriTemplate === each.uriTemplate ? each : { ...each, uriTemplate }
        }),
      ),
    }
  }

  /** A copy with other lists of some servers, by name. */
  with(others: ReadonlyMap<string, ServerListing>): MergedListing {
    return this.#remake((serverListing) => others.get(serverListing.server) ?? serverListing)
  }

  absent(name: string): AbsentFrom | undefined {
    return this.#absent?.(name)
  }

  tool(name: string): ItemAddress | undefined {
    return this.#tools.get(name)
  }

  /** Whether its server says that a tool changes nothing. */
  isReadOnly(name: string): boolean {
    return this.#readOnly.has(name)
  }

  /** Whether clients of the older protocol see the output of a tool as `{ result: … }`. */
  isOutputWrapped(name: string): boolean {
    return this.#wrapped.has(name)
  }

  /** The annotations of a server's tool. */
  annotationsOf(server: string, tool: string): CatalogTool['annotations'] {
    this.#annotations ??= new Map(
      this.servers.map((each) => [
        each.server,
        new Map(each.tools.map(({ name, annotations }) => [name, annotations])),
      ]),
    )
    const annotations = this.#annotations.get(server)?.get(tool)
    return isObject(annotations) ? annotations : undefined
  }

  /** The headers in which calls of a tool repeat some of the arguments. */
  headersOf(name: string): readonly ParameterHeader[] {
    const known = this.#headers.get(name)
    if (known !== undefined) return known
    const place = this.#tools.get(name)
    const serverListing = this.servers.find(({ server }) => server === place?.server)
    const tool = serverListing?.tools.find((each) => each.name === place?.name)
    const schema = tool?.['inputSchema']
    const found = parameterHeaders(isObject(schema) ? schema : {})
    const headers = found.kind === 'valid' ? found.headers : []
    this.#headers.set(name, headers)
    return headers
  }

  prompt(name: string): ItemAddress | undefined {
    return this.#prompts.get(name)
  }

  /** Whether the server has a dedicated process for each client. */
  isOwn(server: string): boolean {
    return this.#own.has(server)
  }

  /** Whether any server has a capability, such as `completions`, or a part of one. */
  can(capability: string, part?: string): boolean {
    return this.servers.some(({ capabilities = {} }) => {
      const known = capabilities[capability]
      return part === undefined ? known !== undefined : isObject(known) && known[part] === true
    })
  }

  /** All of a list as text: whether another is the same. */
  text(list: ListName): string {
    this.#texts.set(list, this.#texts.get(list) ?? JSON.stringify(this.#lists[list]))
    return this.#texts.get(list) ?? ''
  }

  /** Whether a server has announced a change of a list since the offer before this one. */
  isAnnounced(list: ListName, before: MergedListing): boolean {
    if (list === 'tools' && this.toolSearch !== undefined) return false
    const earlier = new Map(before.servers.map((each) => [each.server, each.announcedAt?.[list]]))
    return this.servers.some(({ server, announcedAt }) => {
      const at = announcedAt?.[list]
      return at !== undefined && earlier.has(server) && at > (earlier.get(server) ?? 0)
    })
  }

  /** The caching hint of a list at this moment. */
  caching(list: ListName): Caching {
    const known = this.#cachings.get(list) ?? cachingsOf(list, this.servers)
    this.#cachings.set(list, known)
    return together(known, Date.now())
  }

  /**
   * A page of a list as the inside of a JSON object: `"tools":[…],"nextCursor":"…"`. `undefined` when there is
   * no such page.
   */
  page(list: ListName, cursor: string | undefined, era: Era = 'modern'): string | undefined {
    const isWrapped = era === 'legacy' && list === 'tools' && this.#wrapped.size > 0
    const key = isWrapped ? 'legacyTools' : list
    const items = this.#lists[list]
    const pages =
      this.#pages.get(key) ?? new ListPages(list, isWrapped ? items.map(withLegacyOutput) : items)
    this.#pages.set(key, pages)
    return pages.page(cursor)
  }
}

/** Makes `server.name` mean what `server__name` does, unless something has that name; answers with these by the listed. */
function addAliases(places: Map<string, ItemAddress>): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>()
  for (const [listed, place] of Array.from(places)) {
    const dotted = dottedName(listed, place)
    if (dotted === undefined || places.has(dotted)) continue
    places.set(dotted, place)
    aliases.set(listed, dotted)
  }
  return aliases
}

function saysReadOnly({ annotations }: Named): boolean {
  return isObject(annotations) && annotations['readOnlyHint'] === true
}
