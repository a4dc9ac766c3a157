import type {
  Caching,
  ItemAddress,
  ListName,
  Named,
  ServerCaching,
  ServerListing,
} from './server-listing.ts'
import type { CatalogTool } from '@mcp-host/contracts'
import type { ParameterHeader } from '@mcp-host/mcp'
import { isForAppsOnly, parameterHeaders } from '@mcp-host/mcp'
import { dottedName } from './listed-names.ts'
import { cachingsOf, together } from './list-caching.ts'
import { needsWrapping, withLegacyOutput } from './legacy-output.ts'
import { ListPages } from './list-pages.ts'
import type { Params } from '../messages/json-rpc.ts'
import { ResourceNames } from './resource-names.ts'
import { withPageNamed } from './result-links.ts'
import { isObject } from '@mcp-host/json'
import { SEARCH_DEFINITIONS, ToolSearch } from './tool-search.ts'
import type { Era } from '../messages/versions.ts'

/** A server that is not ready. */
export interface AbsentFrom {
  /** `undefined`: the servers are not known yet. */
  readonly server?: string
  readonly why: string
  /** Whether the server is expected soon. */
  readonly isComing: boolean
}

/** What an item of a server is called here. */
type NameOf = (place: ItemAddress, list: 'tools' | 'prompts') => string

export interface MergedListingOptions {
  /** Instructions that precede those of the servers. */
  readonly instructions?: string | undefined
  /** Whether tools are found by a search instead of listed. */
  readonly toolSearch?: boolean
  /** The absent server to which a name belongs; `undefined` when none is known. */
  readonly absent?: (name: string) => AbsentFrom | undefined
  /** Builds the listing again. By default the names stay the same. */
  readonly remake?: Remake
}

/** `replace`: returns the listing of a server for the other merged listing; `undefined` removes the server. */
export type Remake = (
  replace: (serverListing: ServerListing) => ServerListing | undefined,
  absent: MergedListingOptions['absent'],
) => MergedListing

/** What a caller may see. */
export interface Visibility {
  /** Whether a server is not even named. */
  readonly isHidden: (server: string) => boolean
  /** The visible items of a server that is named. */
  readonly itemsOf: (serverListing: ServerListing) => ServerListing
}

/**
 * The items of several servers under the names of one virtual server. Immutable: a change of the catalog creates
 * another listing.
 */
export class MergedListing {
  readonly servers: readonly ServerListing[]
  readonly #nameOf: NameOf
  readonly #tools: ReadonlyMap<string, ItemAddress>
  readonly #prompts: ReadonlyMap<string, ItemAddress>
  /** Made when they are asked for: most changes of the catalog concern no client. */
  readonly #lists = new Map<ListName, readonly Params[]>()
  readonly #cachings = new Map<ListName, readonly ServerCaching[]>()
  /** Pages as JSON, cached since they are read far more often than they change. */
  readonly #pages = new Map<ListName | 'legacyTools', ListPages>()
  readonly #headers = new Map<string, readonly ParameterHeader[]>()
  /** The tools of a server by name, for the servers that were asked for. */
  readonly #toolsOf = new Map<string, ReadonlyMap<string, Named>>()
  readonly #texts = new Map<ListName, string>()
  readonly #own: ReadonlySet<string>
  readonly resourceNames: ResourceNames
  readonly instructions: string | undefined
  /** Set when tools are found by a search instead of listed. */
  readonly toolSearch: ToolSearch | undefined
  readonly #remake: Remake
  readonly #absent: MergedListingOptions['absent']
  #forModels: MergedListing | undefined

  constructor(
    serverListings: readonly ServerListing[],
    nameOf: NameOf,
    options: MergedListingOptions = {},
  ) {
    const { instructions, toolSearch = false } = options
    this.servers = serverListings
    this.#absent = options.absent
    this.#remake =
      options.remake ??
      ((replace, absent) => {
        const replaced = serverListings.flatMap((each) => replace(each) ?? [])
        return new MergedListing(replaced, nameOf, { ...options, ...(absent && { absent }) })
      })
    this.instructions = instructions
    this.resourceNames = new ResourceNames(serverListings)
    this.#own = new Set(
      serverListings.flatMap(({ server, isOwn }) => (isOwn === true ? [server] : [])),
    )
    this.#nameOf = nameOf
    this.#tools = this.#placesOf('tools')
    this.#prompts = this.#placesOf('prompts')
    if (toolSearch) this.toolSearch = new ToolSearch(this.#namedTools())
  }

  /** A copy with other lists of some servers, by name. */
  with(others: ReadonlyMap<string, ServerListing>): MergedListing {
    return this.#remake((each) => others.get(each.server) ?? each, this.#absent)
  }

  /** The part that a caller may see. A hidden server is missing as if it were not configured. */
  seenWith({ isHidden, itemsOf }: Visibility): MergedListing {
    return this.#remake(
      (each) => (isHidden(each.server) ? undefined : itemsOf(each)),
      (name) => {
        const found = this.absent(name)
        return found?.server !== undefined && isHidden(found.server) ? undefined : found
      },
    )
  }

  /** The same without tools that are for apps alone. */
  get forModels(): MergedListing {
    if (this.#forModels !== undefined) return this.#forModels
    const hasSome = this.servers.some(({ tools }) => tools.some(isForAppsOnly))
    const without = ({ tools, ...rest }: ServerListing): ServerListing => {
      return { ...rest, tools: tools.filter((tool) => !isForAppsOnly(tool)) }
    }
    return (this.#forModels = hasSome ? this.#remake(without, this.#absent) : this)
  }

  absent(name: string): AbsentFrom | undefined {
    return this.#absent?.(name)
  }

  tool(name: string): ItemAddress | undefined {
    return this.#tools.get(name) ?? this.#dotted('tools', name)
  }

  /** Whether the server declares that a tool changes nothing. */
  isReadOnly(name: string): boolean {
    const place = this.tool(name)
    if (place === undefined) return false
    return this.annotationsOf(place.server, place.name)?.['readOnlyHint'] === true
  }

  /** Whether legacy clients get the output of a tool as `{ result: … }`. */
  isOutputWrapped(name: string): boolean {
    // Unlisted tools have no listed schema.
    if (this.toolSearch !== undefined) return false
    const tool = this.#definition(this.tool(name))
    return tool !== undefined && needsWrapping(tool)
  }

  /** The annotations of a server's tool. */
  annotationsOf(server: string, tool: string): CatalogTool['annotations'] {
    const annotations = this.#definition({ server, name: tool })?.['annotations']
    return isObject(annotations) ? annotations : undefined
  }

  /** The schema of the arguments of a server's tool. */
  inputSchemaOf(server: string, tool: string): unknown {
    return this.#definition({ server, name: tool })?.['inputSchema']
  }

  /** The headers in which calls of a tool repeat some of the arguments. */
  headersOf(name: string): readonly ParameterHeader[] {
    const known = this.#headers.get(name)
    if (known !== undefined) return known
    const schema = this.#definition(this.tool(name))?.['inputSchema']
    const found = parameterHeaders(isObject(schema) ? schema : {})
    const headers = found.kind === 'valid' ? found.headers : []
    this.#headers.set(name, headers)
    return headers
  }

  prompt(name: string): ItemAddress | undefined {
    return this.#prompts.get(name) ?? this.#dotted('prompts', name)
  }

  /** Whether the server has a dedicated process for each client. */
  isOwn(server: string): boolean {
    return this.#own.has(server)
  }

  /** Whether any server has a capability, such as `completions`, or a part of it. */
  can(capability: string, part?: string): boolean {
    return this.servers.some(({ capabilities = {} }) => {
      const known = capabilities[capability]
      return part === undefined ? known !== undefined : isObject(known) && known[part] === true
    })
  }

  /** The whole list as a text, for comparisons. */
  text(list: ListName): string {
    this.#texts.set(list, this.#texts.get(list) ?? JSON.stringify(this.#list(list)))
    return this.#texts.get(list) ?? ''
  }

  /** Whether a server has announced a change of a list since the earlier listing. */
  isAnnounced(list: ListName, before: MergedListing): boolean {
    if (list === 'tools' && this.toolSearch !== undefined) return false
    const earlier = new Map(before.servers.map((each) => [each.server, each.announcedAt?.[list]]))
    return this.servers.some(({ server, announcedAt }) => {
      const at = announcedAt?.[list]
      return at !== undefined && earlier.has(server) && at > (earlier.get(server) ?? 0)
    })
  }

  /** The current caching hint of a list. */
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
    const items = this.#list(list)
    const isWrapped = era === 'legacy' && list === 'tools' && items.some(needsWrapping)
    const key = isWrapped ? 'legacyTools' : list
    const pages =
      this.#pages.get(key) ?? new ListPages(list, isWrapped ? items.map(withLegacyOutput) : items)
    this.#pages.set(key, pages)
    return pages.page(cursor)
  }

  /** A tool in its server's own words. */
  #definition(place: ItemAddress | undefined): Named | undefined {
    if (place === undefined) return undefined
    let tools = this.#toolsOf.get(place.server)
    if (tools === undefined) {
      const listing = this.servers.find(({ server }) => server === place.server)
      tools = new Map(listing?.tools.map((tool) => [tool.name, tool]))
      this.#toolsOf.set(place.server, tools)
    }
    return tools.get(place.name)
  }

  /** The first server with a name keeps it. */
  #placesOf(list: 'tools' | 'prompts'): ReadonlyMap<string, ItemAddress> {
    const places = new Map<string, ItemAddress>()
    for (const { server, [list]: items } of this.servers) {
      for (const { name } of items) {
        const place = { server, name }
        const listed = this.#nameOf(place, list)
        if (!places.has(listed)) places.set(listed, place)
      }
    }
    return places
  }

  /** What `server.name` means: the same as `server__name`. */
  #dotted(list: 'tools' | 'prompts', dotted: string): ItemAddress | undefined {
    const places = list === 'tools' ? this.#tools : this.#prompts
    for (const { server } of this.servers) {
      if (!dotted.startsWith(`${server}.`)) continue
      const listed = this.#nameOf({ server, name: dotted.slice(server.length + 1) }, list)
      const place = places.get(listed)
      if (place !== undefined && dottedName(listed, place) === dotted) return place
    }
    return undefined
  }

  /** The items whose names mean them, with their servers, under these names. */
  #listed(list: 'tools' | 'prompts'): [server: string, item: Named][] {
    const places = list === 'tools' ? this.#tools : this.#prompts
    const seen = new Set<ItemAddress>()
    return this.servers.flatMap(({ server, [list]: items }) =>
      items.flatMap((item): [string, Named][] => {
        const name = this.#nameOf({ server, name: item.name }, list)
        const place = places.get(name)
        const isIt = place?.server === server && place.name === item.name && !seen.has(place)
        if (!isIt) return []
        seen.add(place)
        return [[server, { ...item, name }]]
      }),
    )
  }

  #namedTools(): readonly Named[] {
    return this.#listed('tools').map(([server, tool]) =>
      withPageNamed(tool, (uri) => this.resourceNames.nameOf(server, uri)),
    )
  }

  #list(list: ListName): readonly Params[] {
    const known = this.#lists.get(list) ?? this.#makeList(list)
    this.#lists.set(list, known)
    return known
  }

  #makeList(list: ListName): readonly Params[] {
    if (list === 'prompts') return this.#listed('prompts').map(([, prompt]) => prompt)
    if (list === 'tools') {
      return this.toolSearch === undefined ? this.#namedTools() : SEARCH_DEFINITIONS
    }
    return list === 'resources' ? this.#namedResources() : this.#namedTemplates()
  }

  #namedResources(): readonly Params[] {
    return this.servers.flatMap(({ server, resources }) =>
      resources.map((each) => {
        const uri = this.resourceNames.nameOf(server, each.uri)
        return uri === each.uri ? each : { ...each, uri }
      }),
    )
  }

  #namedTemplates(): readonly Params[] {
    return this.servers.flatMap(({ server, resourceTemplates }) =>
      resourceTemplates.map((each) => {
        const uriTemplate = this.resourceNames.templateNameOf(server, each.uriTemplate)
        return uriTemplate === each.uriTemplate ? each : { ...each, uriTemplate }
      }),
    )
  }
}
