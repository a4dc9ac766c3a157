import { MAX_JSON_DEPTH } from '../json/json-limits.ts'

const MEBIBYTE = 1024 * 1024

/** What one server may send over one connection. `docs/reference/limits.md` says what happens to the rest. */
export interface MessageLimits {
  /** Of one message as JSON. */
  readonly messageBytes: number
  /** Signs `{`, `[`, `:` and `,` in one message: about as many as it has values and names. Bounds memory and parsing time. */
  readonly messageValues: number
  /** How deep objects and arrays of a message may be nested. */
  readonly messageDepth: number
  /** Of one notification. */
  readonly notificationBytes: number
  /** Of one request that the server makes. */
  readonly requestBytes: number
  /** Content blocks of one result. */
  readonly contentBlocks: number
  /** Of all lists of the server together, about as many as their JSON has. */
  readonly listBytes: number
  /** Items of one list. */
  readonly listItems: number
  /** Unfinished answers of a remote server together. */
  readonly bufferedBytes: number
  /** Of refused messages within a minute; more ends the connection. */
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
