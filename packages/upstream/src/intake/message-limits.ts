import { MAX_JSON_DEPTH, MAX_JSON_NAMES } from '@mcp-host/json'

const MEBIBYTE = 1024 * 1024

/** Limits for one server over one connection. `docs/reference/limits.md` describes the effect of each. */
export interface MessageLimits {
  /** The size of one message as JSON. */
  readonly messageBytes: number
  /** The characters `{`, `[`, `:` and `,` in one message: about its number of values and names, which parsing depends on. */
  readonly messageValues: number
  /** The names in objects of one message: each takes ten times as long as another value. */
  readonly messageNames: number
  /** The depth of objects and arrays in a message. */
  readonly messageDepth: number
  /** The size of one notification. */
  readonly notificationBytes: number
  /** The size of one request of the server. */
  readonly requestBytes: number
  /** Content blocks of one result. */
  readonly contentBlocks: number
  /** The approximate size of all lists of the server together, as JSON. */
  readonly listBytes: number
  /** Items of one list. */
  readonly listItems: number
  /** Unfinished answers of a remote server together. */
  readonly bufferedBytes: number
  /** The size of refused messages within a minute; more ends the connection. */
  readonly refusedBytesPerMinute: number
  /** Limit for notifications, unexpected responses and invalid lines per second. The burst is three times as large. */
  readonly noticesPerSecond: number
  /** Limit for requests of the server per second. The burst is three times as large. */
  readonly requestsPerSecond: number
}

export const MESSAGE_LIMITS: MessageLimits = {
  messageBytes: 64 * MEBIBYTE,
  // Parsing this number of values takes at most 0.4 s and 50 MB.
  messageValues: 1_000_000,
  messageNames: MAX_JSON_NAMES,
  messageDepth: MAX_JSON_DEPTH,
  // The bus accepts no message above 1 MiB.
  notificationBytes: 512 * 1024,
  // The same limit as for a request of a client at /mcp.
  requestBytes: 8 * MEBIBYTE,
  contentBlocks: 10_000,
  // Twice as much as the largest known.
  listBytes: 4 * MEBIBYTE,
  listItems: 20_000,
  bufferedBytes: 128 * MEBIBYTE,
  refusedBytesPerMinute: 256 * MEBIBYTE,
  noticesPerSecond: 200,
  requestsPerSecond: 50,
}
