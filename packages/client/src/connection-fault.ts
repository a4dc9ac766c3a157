import { HostError } from './host-error.ts'

/** Why there is no connection, as far as it can be told apart. */
export type ConnectionFault =
  /** The gateway has stopped in an orderly way. */
  | 'restart'
  /** The browser has no network. */
  | 'offline'
  /** Nothing answers at the address. */
  | 'away'
  /** A proxy answers, and does not reach the host. */
  | 'proxy'
  /** Something else answers: another program, another version of the host, or the login page of a proxy. */
  | 'stranger'
  /** The host answers that it cannot serve at the moment. */
  | 'unavailable'

const OF_PROXIES: readonly unknown[] = [502, 503, 504]

/** The fault that the error of a request shows. */
export function faultOf(error: unknown): ConnectionFault {
  // Only browsers tell it.
  const { navigator } = globalThis as { readonly navigator?: { readonly onLine?: boolean } }
  if (navigator?.onLine === false) return 'offline'
  if (!(error instanceof HostError) || error.status === undefined) return 'away'
  if (error.isForeign) return OF_PROXIES.includes(error.status) ? 'proxy' : 'stranger'
  return error.status === 404 ? 'stranger' : 'unavailable'
}

/** Whether a gateway refuses the credential. A proxy before it may refuse with the same status. */
export function isRefusal(error: unknown): error is HostError {
  return (
    error instanceof HostError && !error.isForeign && (error.status === 401 || error.status === 403)
  )
}
