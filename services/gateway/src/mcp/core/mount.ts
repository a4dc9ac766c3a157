import type { Offer } from './offer.ts'

/** Some servers together at one address. */
export interface Mount {
  /** As it is now. */
  readonly offer: Offer
  onChange(listener: () => void): Disposable
}
