/** A server that runs as a child process and speaks MCP over its standard streams. */
export interface StdioServerConfig {
  readonly type: 'stdio'
  /** A path, relative to `cwd`, or a name to look up on the `PATH`. Never a shell line. */
  readonly command: string
  readonly args: readonly string[]
  /** Added to the safe part of the host's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute. */
  readonly cwd: string
  /** The limit of one tool call, in milliseconds; absent: the host's default. */
  readonly timeoutMs?: number
}

export type ServerConfig = StdioServerConfig

/** The servers of a host, by name. */
export interface McpConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>
}
