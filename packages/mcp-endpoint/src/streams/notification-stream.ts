import type { VirtualServer } from '../listing/virtual-server.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ListName } from '../listing/server-listing.ts'
import type { ClientMessage, Servers } from '../servers.ts'

/** A list by its name in notifications. */
export type ChangingList = 'tools' | 'prompts' | 'resources'

export interface NotificationStreamOptions {
  readonly virtualServer: VirtualServer
  readonly servers: Servers
  /** Lists whose changes are sent. */
  readonly lists: readonly ChangingList[]
  /** The client whose dedicated processes are watched. */
  readonly client?: string
  readonly send: (message: ClientMessage) => void
}

const PARTS: Readonly<Record<ChangingList, readonly ListName[]>> = {
  tools: ['tools'],
  prompts: ['prompts'],
  resources: ['resources', 'resourceTemplates'],
}

/** Notifies one client of changes until disposed: of lists, and of the resources that it watches. */
export class NotificationStream implements Disposable {
  readonly #options: NotificationStreamOptions
  readonly #changes: Disposable
  #listing: MergedListing
  #uris: readonly string[] = []
  /** One watch for each server. */
  #watches: readonly Disposable[] = []
  #watched = ''

  constructor(options: NotificationStreamOptions) {
    const { virtualServer } = options
    this.#options = options
    this.#listing = virtualServer.listing
    this.#changes = virtualServer.onChange(() => this.#compare())
  }

  /** Watches these resources, by the client's names, and no others. */
  watch(uris: readonly string[]): void {
    const { servers, client, send, virtualServer } = this.#options
    this.#uris = uris
    const places = uris.flatMap((uri) => {
      const [place, ...others] = virtualServer.listing.resourceNames.find(uri)
      return place === undefined || others.length > 0 ? [] : [{ ...place, uri }]
    })
    const wanted = JSON.stringify(places)
    if (wanted === this.#watched) return
    this.#watched = wanted
    this.#endWatches()
    const byServer = Map.groupBy(places, ({ server }) => server)
    this.#watches = Array.from(byServer, ([server, each]) => {
      const isOwn = virtualServer.listing.isOwn(server)
      return servers.watch(server, {
        uris: each.map(({ name }) => name),
        ...(isOwn && client !== undefined ? { client } : {}),
        onUpdated(name) {
          const method = 'notifications/resources/updated'
          // A client may have several names for one resource.
          for (const place of each) {
            if (place.name === name) send({ method, params: { uri: place.uri } })
          }
        },
      })
    })
  }

  [Symbol.dispose](): void {
    this.#changes[Symbol.dispose]()
    this.#endWatches()
  }

  #compare(): void {
    const { virtualServer, lists, send } = this.#options
    const before = this.#listing
    this.#listing = virtualServer.listing
    for (const list of lists) {
      const isSame = PARTS[list].every((part) => before.text(part) === this.#listing.text(part))
      // Some servers announce changes that a list does not show.
      if (!isSame || this.#listing.isAnnounced(list, before))
        send({ method: `notifications/${list}/list_changed` })
    }
    // Another supervisor may have the servers, or a server may have become ready.
    this.watch(this.#uris)
  }

  #endWatches(): void {
    for (const watch of this.#watches) watch[Symbol.dispose]()
    this.#watches = []
  }
}
