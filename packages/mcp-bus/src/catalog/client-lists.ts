import type { Bus } from '@mcp-host/bus'
import { storeLists } from '@mcp-host/bus'
import type { McpClientRecord, ServerEntry, ServerName } from '@mcp-host/contracts'
import type { ServerSnapshot } from '@mcp-host/upstream'
import type { Subjects } from '../subjects.ts'

/** The delay before a failed write is retried. */
const RETRY_MS = 1_000

interface ClientListsDeps {
  readonly bus: Pick<Bus, 'id' | 'mcpClients' | 'blobs'>
  readonly subjects: Pick<Subjects, 'clientLists'>
  readonly warn: (error: unknown) => void
}

interface ClientListsOptions {
  readonly server: ServerName
  /** The client of the dedicated process. */
  readonly client: string
  readonly toEntry: (snapshot: ServerSnapshot) => ServerEntry
}

/** Tells the gateways that the lists of a dedicated process differ from those at its start, until its end. */
export class ClientLists implements AsyncDisposable {
  readonly #deps: ClientListsDeps
  readonly #options: ClientListsOptions
  readonly #process = crypto.randomUUID()
  #change = 0
  #latest: { readonly snapshot: ServerSnapshot; readonly json: string } | undefined
  /** Set while the lists differ. */
  #served: Disposable | undefined
  #isDirty = false
  #writing: Promise<void> | undefined

  constructor(deps: ClientListsDeps, options: ClientListsOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** Takes a change of the process's lists. */
  take(snapshot: ServerSnapshot): void {
    // A restarted process has lost all state.
    if (snapshot.state !== 'ready') return this.#end()
    const before = this.#latest
    this.#latest = { snapshot, json: listsJson(snapshot) }
    if (before === undefined || before.json === this.#latest.json) return
    this.#change++
    // Served before the change is published, since gateways read the lists at once.
    this.#served ??= this.#serve(snapshot)
    this.#publish()
  }

  /** Resolves once the last change is written, or the broker cannot be reached. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
    await this.#writing
  }

  #end(): void {
    this.#latest = undefined
    if (this.#served === undefined) return
    this.#served[Symbol.dispose]()
    this.#served = undefined
    this.#publish()
  }

  #serve(first: ServerSnapshot): Disposable {
    const { bus, subjects, warn } = this.#deps
    const { server, client, toEntry } = this.#options
    return subjects.clientLists(server, client, async () => {
      try {
        // The reader removes the stored lists.
        return await storeLists(bus.blobs, toEntry(this.#latest?.snapshot ?? first))
      } catch (error) {
        warn(error)
        throw error
      }
    })
  }

  #publish(): void {
    this.#isDirty = true
    this.#write()
  }

  /** Writes one change at a time, so that an older change cannot overwrite a newer one. */
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
      // A retry also follows after the end, since the written record counts while this supervisor is present.
      setTimeout(() => this.#write(), RETRY_MS).unref()
    } finally {
      this.#writing = undefined
    }
  }

  #changed({ ownLists = {}, ...record }: McpClientRecord): McpClientRecord {
    const { server } = this.#options
    const { [server]: known, ...others } = ownLists
    const changed = { supervisor: this.#deps.bus.id, process: this.#process, change: this.#change }
    // A later process may have written its own record.
    const isForeign = known !== undefined && known.process !== this.#process
    const rest = isForeign ? ownLists : others
    const lists = this.#served === undefined ? rest : { ...others, [server]: changed }
    return Object.keys(lists).length === 0 ? record : { ...record, ownLists: lists }
  }
}

function listsJson(snapshot: ServerSnapshot): string {
  const { tools, prompts, resources, resourceTemplates, announcedAt } = snapshot
  return JSON.stringify([tools, prompts, resources, resourceTemplates, announcedAt])
}
