import type { Bus } from '@mcp-host/bus'
import { storeLists } from '@mcp-host/bus'
import type { McpClientRecord, ServerEntry, ServerName } from '@mcp-host/contracts'
import type { ServerSnapshot } from 'mcp-host'
import type { Subjects } from '../subjects.ts'

/** When the broker did not take what was to be written. */
const RETRY_MS = 1_000

export interface ClientListsDeps {
  readonly bus: Pick<Bus, 'id' | 'mcpClients' | 'blobs'>
  readonly subjects: Pick<Subjects, 'clientLists'>
  readonly warn: (error: unknown) => void
}

export interface ClientListsOptions {
  readonly server: ServerName
  /** Whose process it is. */
  readonly client: string
  /** As the catalog would show it. */
  readonly toEntry: (snapshot: ServerSnapshot) => ServerEntry
}

/** Tells the gateways that the process of one client lists something else than it did first, until its end. */
export class ClientLists implements AsyncDisposable {
  readonly #deps: ClientListsDeps
  readonly #options: ClientListsOptions
  readonly #process = crypto.randomUUID()
  #change = 0
  #latest: { readonly snapshot: ServerSnapshot; readonly text: string } | undefined
  /** While it lists something else. */
  #served: Disposable | undefined
  #isDirty = false
  #writing: Promise<void> | undefined

  constructor(deps: ClientListsDeps, options: ClientListsOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** The process is in another state, or lists something else. */
  take(snapshot: ServerSnapshot): void {
    // The next process has lost all state.
    if (snapshot.state !== 'ready') return this.#end()
    const text = textOf(snapshot)
    const before = this.#latest
    this.#latest = { snapshot, text }
    if (before === undefined || before.text === text) return
    this.#change++
    // Served before the change is announced: gateways ask at once.
    this.#served ??= this.#serve(this.#latest)
    this.#tell()
  }

  /** Resolves once its last change is written, or the broker cannot be reached. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
    await this.#writing
  }

  #end(): void {
    this.#latest = undefined
    if (this.#served === undefined) return
    this.#served[Symbol.dispose]()
    this.#served = undefined
    this.#tell()
  }

  #serve(first: { readonly snapshot: ServerSnapshot }): Disposable {
    const { bus, subjects, warn } = this.#deps
    const { server, client, toEntry } = this.#options
    return subjects.clientLists(server, client, async () => {
      try {
        // The reader removes what is stored.
        return await storeLists(bus.blobs, toEntry((this.#latest ?? first).snapshot))
      } catch (error) {
        warn(error)
        throw error
      }
    })
  }

  #tell(): void {
    this.#isDirty = true
    this.#write()
  }

  /** One write at a time: what was before must not come after what is now. */
  #write(): void {
    if (this.#isDirty) this.#writing ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    const { bus, warn } = this.#deps
    try {
      while (this.#isDirty) {
        this.#isDirty = false
        await bus.mcpClients.change(this.#options.client, (record) => this.#changed(record))
      }
    } catch (error) {
      warn(error)
      this.#isDirty = true
      // Also after the end: what was told counts for as long as this supervisor is present.
      setTimeout(() => this.#write(), RETRY_MS).unref()
    } finally {
      this.#writing = undefined
    }
  }

  #changed({ ownLists = {}, ...record }: McpClientRecord): McpClientRecord {
    const { server } = this.#options
    const { [server]: known, ...others } = ownLists
    const ours = { supervisor: this.#deps.bus.id, process: this.#process, change: this.#change }
    // Another process may have begun meanwhile.
    const isForeign = known !== undefined && known.process !== this.#process
    const left = isForeign ? ownLists : others
    const lists = this.#served === undefined ? left : { ...others, [server]: ours }
    return Object.keys(lists).length === 0 ? record : { ...record, ownLists: lists }
  }
}

function textOf(snapshot: ServerSnapshot): string {
  const { tools, prompts, resources, resourceTemplates, announcedAt } = snapshot
  return JSON.stringify([tools, prompts, resources, resourceTemplates, announcedAt])
}
