const PREFIX = 'io.modelcontextprotocol'

/** Keys of `_meta` in requests, results and notifications since 2026-07-28. */
export const MetaKey = {
  protocolVersion: `${PREFIX}/protocolVersion`,
  clientInfo: `${PREFIX}/clientInfo`,
  clientCapabilities: `${PREFIX}/clientCapabilities`,
  logLevel: `${PREFIX}/logLevel`,
  serverInfo: `${PREFIX}/serverInfo`,
  subscriptionId: `${PREFIX}/subscriptionId`,
} as const

/** The keys with which every request of a client says about it what older servers do not know. */
export const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  MetaKey.protocolVersion,
  MetaKey.clientInfo,
  MetaKey.clientCapabilities,
  MetaKey.logLevel,
])

/** The extension of MCP Apps, in capabilities of clients and servers. */
export const APPS_EXTENSION = `${PREFIX}/ui`
