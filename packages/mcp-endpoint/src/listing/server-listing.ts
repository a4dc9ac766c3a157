import type { Params } from '../messages/json-rpc.ts'

/** The caching hint of a list. */
export interface Caching {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The caching hint of one server's list. */
export interface ServerCaching extends Caching {
  /** The time at which the list was read, in epoch milliseconds; absent when the server announces changes. */
  readonly listedAt?: number
}

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** One server with its lists, in the server's names. */
export interface ServerListing {
  readonly server: string
  /** Whether the server has a dedicated process for each client. */
  readonly isOwn?: boolean
  readonly instructions?: string | undefined
  /** The capabilities that the server declared. */
  readonly capabilities?: Params | undefined
  readonly tools: readonly Named[]
  readonly prompts: readonly Named[]
  readonly resources: readonly (Params & { readonly uri: string })[]
  readonly resourceTemplates: readonly (Params & { readonly uriTemplate: string })[]
  /** Whether all of its resources are inaccessible, even unlisted ones. */
  readonly hidesResources?: boolean
  /** Whether a resource is accessible, also an unlisted one. Default: all are. */
  readonly canRead?: (uri: string) => boolean
  /** How arguments are checked before they are sent to the server. Default: `lenient`. */
  readonly validation?: 'strict' | 'lenient' | 'off' | undefined
  /** Caching hints of the server's lists. */
  readonly caching?: Readonly<Partial<Record<ListName, ServerCaching | undefined>>>
  /** When the server last announced that a list has changed, in epoch milliseconds. */
  readonly announcedAt?: Readonly<Partial<Record<ListName, number | undefined>>> | undefined
}

export type Named = Params & { readonly name: string }

/** An item of a server under its original name. */
export interface ItemAddress {
  readonly server: string
  /** The name that the server uses. */
  readonly name: string
}
