import type { MergedListing } from './merged-listing.ts'

/** Several servers at one address. */
export interface VirtualServer {
  /** The server, at an address of one server. */
  readonly server?: string
  /** The names of its servers. Default: all that there are. */
  readonly servers?: readonly string[] | undefined
  /** The current listing. */
  readonly listing: MergedListing
  readonly onChange: (listener: () => void) => Disposable
}

/** A server that cannot be used now. */
export interface MissingServer {
  readonly server: string
  readonly state: 'starting' | 'unavailable' | 'login-needed'
  /** The page at which the caller logs in. */
  readonly link?: string | undefined
}
