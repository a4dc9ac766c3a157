import type { Bus, CatalogView, McpClientView } from '@mcp-host/bus'
import { ChangeEmitter, readLists } from '@mcp-host/bus'
import { newEnvelope, readClientLists } from '@mcp-host/contracts'
import type { ClientListings, ServerListing } from '@mcp-host/mcp-endpoint'
import { toServerListing } from './virtual-servers.ts'

/** The time limit for a supervisor, which answers without asking the process. */
const TIMEOUT_MS = 2_000

export interface BusClientListingsDeps {
  readonly bus: Pick<Bus, 'call' | 'blobs'>
  readonly clients: McpClientView
  readonly catalog: CatalogView
}

/** The lists of dedicated processes, published by present supervisors. */
export class BusClientListings implements ClientListings, Disposable {
  readonly #deps: BusClientListingsDeps
  readonly #changes = new ChangeEmitter()
  readonly #heard = new DisposableStack()
  /** The ids of the present supervisors. */
  #present: ReadonlySet<string> = new Set()

  constructor(deps: BusClientListingsDeps) {
    this.#deps = deps
    this.#take()
    this.#heard.use(deps.catalog.onChange(() => this.#take()))
    this.#heard.use(deps.clients.onChange(() => this.#changes.call()))
  }

  versions(client: string): ReadonlyMap<string, string> | undefined {
    const record = this.#deps.clients.get(client)
    // Checked first, since every request gets here and hardly any client has its own lists.
    if (record?.ownLists === undefined) return undefined
    const present = Object.entries(record.ownLists).flatMap(([server, each]) =>
      this.#present.has(each.supervisor)
        ? [[server, `${each.process} ${each.change}`] as const]
        : [],
    )
    return present.length === 0 ? undefined : new Map(present)
  }

  onChange(listener: () => void): Disposable {
    return this.#changes.add(listener)
  }

  async read(server: string, client: string): Promise<ServerListing | undefined> {
    const options = { envelope: newEnvelope('local'), timeoutMs: TIMEOUT_MS }
    const { bus } = this.#deps
    try {
      const entry = await bus.call(readClientLists, { server, client }, {}, options)
      if (entry.state !== 'ready') return undefined
      const whole = await readLists(bus.blobs, entry)
      // The listing was stored only for this answer. If it cannot be removed, it expires.
      if (entry.stored !== undefined) bus.blobs.remove(entry.stored.key).catch(() => undefined)
      return toServerListing(whole)
    } catch {
      // The process has ended or cannot be reached. The next reader asks again.
      return undefined
    }
  }

  [Symbol.dispose](): void {
    this.#heard.dispose()
  }

  #take(): void {
    const supervisors = Array.from(this.#deps.catalog.entries.values()).flatMap((entry) =>
      entry.kind === 'supervisor' ? [entry.id] : [],
    )
    // Supervisors often publish statistics. Only a change of their ids matters.
    const isSame =
      supervisors.length === this.#present.size && supervisors.every((id) => this.#present.has(id))
    if (isSame) return
    this.#present = new Set(supervisors)
    this.#changes.call()
  }
}
