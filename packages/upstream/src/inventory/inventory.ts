import type { ProtocolClient } from '../connection/protocol-client.ts'
import type { MessageLimits } from '../intake/message-limits.ts'
import type { ToolFilter } from '@mcp-host/mcp'
import type { Logger } from '@mcp-host/process'
import { isAllowed, type ParameterHeader, parameterHeaders } from '@mcp-host/mcp'
import { coalesce } from './coalesce.ts'
import { ListBudget } from './list-budget.ts'
import { listAll, type ListAllOptions, type Listing } from './list-all.ts'
import type { ListCaching } from './list-caching.ts'
import { Prompt, Resource, ResourceTemplate, withName } from './listed.ts'
import { mustBeTask, sizeFault, Tool, withObjectSchemas } from './tool.ts'

/** The lists of a server. Templates are listed with the resources. */
export const LIST_NAMES = ['tools', 'prompts', 'resources'] as const
export type ListName = (typeof LIST_NAMES)[number]
type ListField = ListName | 'resourceTemplates'

/** The pause before a changed list is read again. It doubles while the server announces further changes. */
const RELIST_GAP = { gapMs: 200, maxGapMs: 5_000 }

/** The time limit for a list that the server has not declared; most servers answer at once that they have none. */
const UNDECLARED_LIMIT_MS = 1000

export interface InventoryDeps {
  readonly logger: Logger
  /** Called after a list was read again. */
  readonly onChange: (list: ListName) => void
  /** The clock of `announcedAt`, in epoch milliseconds. */
  readonly now: () => number
}

export interface InventoryOptions {
  readonly filter: ToolFilter
  /** The time limit for one page, in milliseconds. */
  readonly timeoutMs: number
  readonly limits: Pick<MessageLimits, 'listBytes' | 'listItems'>
}

interface ListRequest<Item> extends Omit<ListAllOptions<Item>, 'signal' | 'timeoutMs' | 'budget'> {
  /** The capability that declares this list. */
  readonly list: ListName
  readonly field: ListField
}

/** The lists of one connection's server, as last read. */
export class Inventory {
  readonly #connection: ProtocolClient
  readonly #deps: InventoryDeps
  readonly #options: InventoryOptions
  readonly #budget: ListBudget
  readonly #closed = new AbortController()
  readonly #refresh: Readonly<Record<ListName, () => Promise<void>>>
  tools: ReadonlyMap<string, Tool> = new Map()
  /** Tools that the filter hides from callers. */
  deniedTools: ReadonlySet<string> = new Set()
  prompts: ReadonlyMap<string, Prompt> = new Map()
  resources: ReadonlyMap<string, Resource> = new Map()
  resourceTemplates: ReadonlyMap<string, ResourceTemplate> = new Map()
  /** Caching hints of the lists that the server has. */
  caching: Readonly<Partial<Record<ListField, ListCaching>>> = {}
  /** When the server last announced a change of each list, in epoch milliseconds. */
  announcedAt: Readonly<Partial<Record<ListName, number>>> | undefined
  /** Lists that were announced as changed and not read again yet. */
  readonly #announced = new Set<ListName>()
  /** Limits the first reading of all lists; later ones have only the time limit per page. */
  #startSignal: AbortSignal | undefined

  constructor(connection: ProtocolClient, deps: InventoryDeps, options: InventoryOptions) {
    this.#connection = connection
    this.#deps = deps
    this.#options = options
    this.#budget = new ListBudget(options.limits)
    this.#refresh = {
      tools: coalesce(() => this.#listTools(), RELIST_GAP),
      prompts: coalesce(() => this.#listPrompts(), RELIST_GAP),
      resources: coalesce(() => this.#listResources(), RELIST_GAP),
    }
  }

  /** Whether the filter hides a tool. */
  isDenied(tool: string): boolean {
    return !isAllowed(this.#options.filter, tool)
  }

  /** The headers that repeat a tool's arguments; none on transports without headers. */
  headersOf({ inputSchema }: Tool): readonly ParameterHeader[] {
    if (!this.#hasParameterHeaders) return []
    const headers = parameterHeaders(inputSchema)
    return headers.kind === 'valid' ? headers.headers : []
  }

  /**
   * Reads every list, also undeclared ones, since some servers have tools without declaring them. Throws when declared
   * tools cannot be listed; for other lists it logs a warning.
   */
  async load(signal: AbortSignal): Promise<void> {
    this.#startSignal = signal
    try {
      await Promise.all([
        this.#refresh.tools(),
        this.#tryRefresh('prompts'),
        this.#tryRefresh('resources'),
      ])
    } finally {
      this.#startSignal = undefined
    }
  }

  /** Reads a changed list again, after a pause if it was read just before. Never throws: the former list stays. */
  async changed(list: ListName): Promise<void> {
    this.#announced.add(list)
    await this.#tryRefresh(list)
  }

  close(): void {
    this.#closed.abort(new Error('the connection is closed'))
  }

  async #tryRefresh(list: ListName): Promise<void> {
    try {
      await this.#refresh[list]()
    } catch (error) {
      if (this.#closed.signal.aborted) return
      this.#deps.logger.warn({ err: error, list }, 'the list could not be read')
    }
  }

  async #listTools(): Promise<void> {
    const denied = new Set<string>()
    const listing = await this.#list({
      list: 'tools',
      method: 'tools/list',
      field: 'tools',
      schema: Tool,
      prepare: (raw) => withObjectSchemas(raw, this.#connection.era),
      keyOf: ({ name }) => name,
      refuse: (tool) => {
        if (this.isDenied(tool.name)) {
          denied.add(tool.name)
          return 'it is not allowed here'
        }
        if (mustBeTask(tool)) return 'it can only be called as a task'
        const fault = sizeFault(tool)
        if (fault !== undefined || !this.#hasParameterHeaders) return fault
        const headers = parameterHeaders(tool.inputSchema)
        return headers.kind === 'invalid' ? headers.reason : undefined
      },
    })
    if (listing === undefined) return
    this.tools = listing.items
    this.deniedTools = denied
    this.#listed('tools', { tools: listing.caching })
  }

  async #listPrompts(): Promise<void> {
    const listing = await this.#list({
      list: 'prompts',
      method: 'prompts/list',
      field: 'prompts',
      schema: Prompt,
      keyOf: ({ name }) => name,
    })
    if (listing === undefined) return
    this.prompts = listing.items
    this.#listed('prompts', { prompts: listing.caching })
  }

  async #listResources(): Promise<void> {
    const [resources, templates] = await Promise.all([
      this.#list({
        list: 'resources',
        method: 'resources/list',
        field: 'resources',
        schema: Resource,
        prepare: withName,
        keyOf: ({ uri }) => uri,
      }),
      this.#list({
        list: 'resources',
        method: 'resources/templates/list',
        field: 'resourceTemplates',
        schema: ResourceTemplate,
        prepare: withName,
        keyOf: ({ uriTemplate }) => uriTemplate,
      }),
    ])
    if (resources === undefined && templates === undefined) return
    this.resources = resources?.items ?? this.resources
    this.resourceTemplates = templates?.items ?? this.resourceTemplates
    this.#listed('resources', {
      ...(resources && { resources: resources.caching }),
      ...(templates && { resourceTemplates: templates.caching }),
    })
  }

  #listed(list: ListName, caching: Inventory['caching']): void {
    this.caching = { ...this.caching, ...caching }
    if (this.#announced.delete(list)) {
      this.announcedAt = { ...this.announcedAt, [list]: this.#deps.now() }
    }
    this.#deps.onChange(list)
  }

  get #hasParameterHeaders(): boolean {
    return this.#connection.era === 'modern' && this.#connection.hasHeaders
  }

  /** Reads one list. Undefined when the server does not have it. */
  async #list<Item>({ list, ...options }: ListRequest<Item>): Promise<Listing<Item> | undefined> {
    const isKnown =
      this.#connection.capabilities[list] !== undefined || this.caching[options.field] !== undefined
    const { timeoutMs } = this.#options
    const signal =
      this.#startSignal === undefined
        ? this.#closed.signal
        : AbortSignal.any([this.#startSignal, this.#closed.signal])
    try {
      const listing = await listAll(this.#connection, this.#deps.logger, {
        ...options,
        budget: this.#budget,
        signal,
        timeoutMs: isKnown ? timeoutMs : Math.min(timeoutMs, UNDECLARED_LIMIT_MS),
      })
      return isKnown || listing.items.size > 0 ? listing : undefined
    } catch (error) {
      if (isKnown || signal.aborted) throw error
      this.#deps.logger.debug({ err: error, list }, 'a list that was not announced is not there')
      return undefined
    }
  }
}
