/** Error codes of JSON-RPC and MCP by their meanings, of which some share a code. */
export const JsonRpcCode = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** The first code that implementations define: temporarily unavailable. */
  unavailable: -32_000,
  /** The same code: refused for a reason of the implementation, which its message says. */
  refused: -32_000,
  timedOut: -32_001,
  /** The code by which the official SDKs say that they do not know a session. */
  sessionNotFound: -32_001,
  /** The code until 2025-11-25; later revisions use `invalidParams`. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** The answer to a request that was cancelled, which its client does not get. */
  cancelled: -32_800,
} as const
