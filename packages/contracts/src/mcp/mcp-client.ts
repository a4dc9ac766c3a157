import { z } from 'zod'

/** The log levels of MCP, the least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const
export const McpLogLevel = z.enum(LOG_LEVELS)
export type McpLogLevel = z.infer<typeof McpLogLevel>

/** An MCP client with a session, as servers must know it. */
export const McpClient = z.object({
  /** The id of its session on the bus. */
  id: z.string(),
  /** The capabilities that the client declares. */
  capabilities: z.looseObject({}),
  /** The least level of log messages that it gets. */
  logLevel: McpLogLevel.optional(),
})
export type McpClient = z.infer<typeof McpClient>

/** The state of a client's session that its id does not contain. Written by the gateways. */
export const McpClientRecord = z.object({
  /** Whether the session has ended. */
  isOver: z.boolean().optional(),
  logLevel: McpLogLevel.optional(),
  /** The subscribed resources, by the URIs that the client uses. */
  subscriptions: z.array(z.string()).optional(),
  /**
   * The dedicated processes of the client whose lists differ from those at their start, by server; `readClientLists`
   * reads them. Written by the supervisors.
   */
  ownLists: z
    .record(
      z.string(),
      z.object({
        /** The entry counts only while this supervisor is present. */
        supervisor: z.string(),
        /** The id of the process. The next one begins with the lists of all. */
        process: z.string(),
        /** The number of changes. */
        change: z.number().int(),
      }),
    )
    .optional(),
})
export type McpClientRecord = z.infer<typeof McpClientRecord>
