import type { Connection } from '../connection/connection.ts'
import type { ToolFilter } from '../config/mcp-config.ts'
import type { Logger } from '../logger.ts'
import { type ParameterHeader, parameterHeaders } from '../requests/parameter-headers.ts'
import { coalesce } from './coalesce.ts'
import { listAll, type Listing } from './list-all.ts'
import type { ListCaching } from './list-caching.ts'
import { Prompt, Resource, ResourceTemplate } from './listed.ts'
import { isAllowed } from './tool-filter.ts'
import { mustBeTask, Tool } from './tool.ts'

/** What a server can list. Templates come with the resources. */
export const LIST_NAMES = ['tools', 'prompts', 'resources'] as const
export type ListName = (typeof LIST_NAMES)[number]

/** A server that says at every moment that a list has changed is asked this often, and no more. */
const RELIST_GAP_MS = 200

export interface InventoryDeps {
  readonly logger: Logger
  /** Told after a list was read again. */
  readonly onChange: (list: ListName) => void
}

export interface InventoryOptions {
  readonly filter: ToolFilter
  /** How long one page may take, in milliseconds. */
  readonly timeoutMs: number
}

/** What one connection's server offers, as last listed. */
export class Inventory {
  readonly #connection: Connection
  readonly #deps: InventoryDeps
  readonly #options: InventoryOptions
  readonly #closed = new AbortController()
  readonly #refresh: Readonly<Record<ListName, () => Promise<void>>>
  tools: ReadonlyMap<string, Tool> = new Map()
  /** Tools that the server has and callers must not know. */
  deniedTools: ReadonlySet<string> = new Set()
  prompts: ReadonlyMap<string, Prompt> = new Map()
  resources: ReadonlyMap<string, Resource> = new Map()
  resourceTemplates: ReadonlyMap<string, ResourceTemplate> = new Map()
  /** Of the lists that the server has. */
  caching: Readonly<Partial<Record<ListName | 'resourceTemplates', ListCaching>>> = {}
  /** Bounds the first lists together; later ones have only the time per page. */
  #startSignal: AbortSignal | undefined

  constructor(connection: Connection, deps: InventoryDeps, options: InventoryOptions) {
    this.#connection = connection
    this.#deps = deps
    this.#options = options
    this.#refresh = {
      tools: coalesce(() => this.#listTools(), { gapMs: RELIST_GAP_MS }),
      prompts: coalesce(() => this.#listPrompts(), { gapMs: RELIST_GAP_MS }),
      resources: coalesce(() => this.#listResources(), { gapMs: RELIST_GAP_MS }),
    }
  }

  /** Whether a tool is there but must not be called. */
  isDenied(tool: string): boolean {
    return !isAllowed(this.#options.filter, tool)
  }

  /** How a tool's arguments are repeated in headers; none where there are no headers. */
  headersOf({ inputSchema }: Tool): readonly ParameterHeader[] {
    if (!this.#hasParameterHeaders) return []
    const headers = parameterHeaders(inputSchema)
    return headers.kind === 'valid' ? headers.headers : []
  }

  /** Reads every list. Throws when the tools cannot be listed; other lists are missed with a warning. */
  async load(signal: AbortSignal): Promise<void> {
    this.#startSignal = signal
    try {
      await Promise.all([
        this.#refresh.tools(),
        this.#missable('prompts'),
        this.#missable('resources'),
      ])
    } finally {
      this.#startSignal = undefined
    }
  }

  /** Reads one list again, now or soon. Never throws: what was listed before stays. */
  async changed(list: ListName): Promise<void> {
    await this.#missable(list)
  }

  close(): void {
    this.#closed.abort(new Error('the connection is closed'))
  }

  async #missable(list: ListName): Promise<void> {
    try {
      await this.#refresh[list]()
    } catch (error) {
      if (this.#closed.signal.aborted) return
      this.#deps.logger.warn({ err: error, list }, 'the list could not be read')
    }
  }

  async #listTools(): Promise<void> {
    const { tools } = this.#connection.capabilities
    if (tools === undefined) return
    const denied = new Set<string>()
    const { items, caching } = await this.#list(
      'tools/list',
      'tools',
      Tool,
      ({ name }) => name,
      (tool) => {
        if (this.isDenied(tool.name)) {
          denied.add(tool.name)
          return 'it is not allowed here'
        }
        if (mustBeTask(tool)) return 'it can only be called as a task'
        if (!this.#hasParameterHeaders) return undefined
        const headers = parameterHeaders(tool.inputSchema)
        return headers.kind === 'invalid' ? headers.reason : undefined
      },
    )
    this.tools = items
    this.caching = { ...this.caching, tools: caching }
    this.deniedTools = denied
    this.#deps.onChange('tools')
  }

  async #listPrompts(): Promise<void> {
    if (this.#connection.capabilities.prompts === undefined) return
    const { items, caching } = await this.#list(
      'prompts/list',
      'prompts',
      Prompt,
      ({ name }) => name,
    )
    this.prompts = items
    this.caching = { ...this.caching, prompts: caching }
    this.#deps.onChange('prompts')
  }

  async #listResources(): Promise<void> {
    if (this.#connection.capabilities.resources === undefined) return
    const [resources, templates] = await Promise.all([
      this.#list('resources/list', 'resources', Resource, ({ uri }) => uri),
      this.#list(
        'resources/templates/list',
        'resourceTemplates',
        ResourceTemplate,
        ({ uriTemplate }) => uriTemplate,
      ),
    ])
    this.resources = resources.items
    this.resourceTemplates = templates.items
    this.caching = {
      ...this.caching,
      resources: resources.caching,
      resourceTemplates: templates.caching,
    }
    this.#deps.onChange('resources')
  }

  get #hasParameterHeaders(): boolean {
    return this.#connection.era === 'modern' && this.#connection.hasHeaders
  }

  #list<Item>(
    method: string,
    field: string,
    schema: Parameters<typeof listAll<Item>>[2]['schema'],
    keyOf: (item: Item) => string,
    refuse?: (item: Item) => string | undefined,
  ): Promise<Listing<Item>> {
    const { timeoutMs } = this.#options
    const signal =
      this.#startSignal === undefined
        ? this.#closed.signal
        : AbortSignal.any([this.#startSignal, this.#closed.signal])
    return listAll(this.#connection, this.#deps.logger, {
      method,
      field,
      schema,
      keyOf,
      ...(refuse === undefined ? {} : { refuse }),
      signal,
      timeoutMs,
    })
  }
}
