import { MAX_JSON_DEPTH } from '../json/json-limits.ts'

const MEBIBYTE = 1024 * 1024

/** Limits for one server over one connection. `docs/reference/limits.md` describes the effect of each. */
export interface MessageLimits {
  /** The size of one message as JSON. */
  readonly messageBytes: number
  /** Signs `{`, `[`, `:` and `,` in one message: about as many as it has values and names. Bounds memory and parsing time. */
  readonly messageValues: number
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
  /** Notifications, answers to nothing and lines that are no message. Three times as many may come at once. */
  readonly noticesPerSecond: number
  /** Requests that the server makes. Three times as many may come at once. */
  readonly requestsPerSecond: number
}

export const MESSAGE_LIMITS: MessageLimits = {
  messageBytes: 64 * MEBIBYTE,
  // Parsing so many takes at most 0.4 s and 50 MB.
  messageValues: 1_000_000,
  messageDepth: MAX_JSON_DEPTH,
  // The bus takes no message above 1 MiB.
  notificationBytes: 512 * 1024,
  // As much as a request of a client at /mcp.
  requestBytes: 8 * MEBIBYTE,
  contentBlocks: 10_000,
  // The largest known have about 2 MiB. Gateways parse them in one go.
  listBytes: 8 * MEBIBYTE,
  listItems: 20_000,
  bufferedBytes: 128 * MEBIBYTE,
  refusedBytesPerMinute: 256 * MEBIBYTE,
  noticesPerSecond: 200,
  requestsPerSecond: 50,
}
