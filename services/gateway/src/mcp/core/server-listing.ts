import type { Params } from './json-rpc.ts'

/** For how long and for whom a list is good. */
export interface Caching {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The same of one server's list. */
export interface ServerCaching extends Caching {
  /** Since when, in epoch milliseconds; absent where we hear of every change. */
  readonly listedAt?: number
}

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** A server with what it lists, each thing as the server describes it. */
export interface ServerListing {
  readonly server: string
  /** Whether each client has a process of it for itself. */
  readonly isOwn?: boolean
  readonly instructions?: string | undefined
  /** What it can, in its own words. */
  readonly capabilities?: Params | undefined
  readonly tools: readonly Named[]
  readonly prompts: readonly Named[]
  readonly resources: readonly (Params & { readonly uri: string })[]
  readonly resourceTemplates: readonly (Params & { readonly uriTemplate: string })[]
  /** Whether none of its resources may be reached, listed or not. */
  readonly hidesResources?: boolean
  /** Of the lists that it has. */
  readonly caching?: Readonly<Partial<Record<ListName, ServerCaching | undefined>>>
  /** When the server last announced that a list has changed, in epoch milliseconds. */
  readonly announcedAt?: Readonly<Partial<Record<ListName, number | undefined>>> | undefined
}

export type Named = Params & { readonly name: string }

/** Where something is that has another name here. */
export interface ItemAddress {
  readonly server: string
  /** As the server calls it. */
  readonly name: string
}
