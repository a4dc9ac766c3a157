import type { Implementation } from '@modelcontextprotocol/client'

import type { McpHostError } from '../errors/mcp-host-error.ts'
import type { ServerState } from './server-state.ts'
import type { Tool } from './tool.ts'

/** A server as it is at one moment; it does not change afterwards. */
export interface ServerSnapshot {
  readonly name: string
  readonly state: ServerState
  /** Why it is unavailable. */
  readonly error?: McpHostError
  /** What the server says about itself, once it has. */
  readonly serverInfo?: Implementation
  /** Of its process, while there is one. */
  readonly pid?: number
  /** Empty unless it is ready. */
  readonly tools: readonly Tool[]
}
