import type { MergedListing } from './merged-listing.ts'

/** Some servers together at one address. */
export interface VirtualServer {
  /** As it is now. */
  readonly listing: MergedListing
  onChange(listener: () => void): Disposable
}
