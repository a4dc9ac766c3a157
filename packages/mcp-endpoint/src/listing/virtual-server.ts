import type { MergedListing } from './merged-listing.ts'

/** Several servers at one address. */
export interface VirtualServer {
  /** The server, at an address of one server. */
  readonly server?: string
  /** The current listing. */
  readonly listing: MergedListing
  readonly onChange: (listener: () => void) => Disposable
}
