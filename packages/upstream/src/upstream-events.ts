import type { ListName } from './inventory/inventory.ts'
import type { ServerLogMessage } from './requests/server-inbox.ts'

/** What happens to a server, for its owner. */
export interface UpstreamEvents {
  /** Its state or its lists have changed. */
  changed?(): void
  /** The server announces that a list has changed. Until the list is read again, any entry may be outdated. */
  listOutdated?(list: ListName): void
  /** A list was read again; `changed` follows. */
  listChanged?(list: ListName): void
  /** A subscribed resource has changed. */
  resourceUpdated?(uri: string): void
  /** A URL elicitation is complete, as the server reports. */
  elicitationComplete?(elicitationId: string): void
  /** A log message of the server. */
  logged?(message: ServerLogMessage): void
  /** A call was refused that may be an attack. */
  refused?(tool: string, reason: string): void
  /** Other instances serve requests now. */
  adapted?(): void
}
