import { z } from 'zod'

/** How much log messages matter, the least first. */
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

/** An MCP client that keeps a session with us, as servers must know it. */
export const McpClient = z.object({
  /** Names its session on the bus. */
  id: z.string(),
  /** What it can be asked for, in its own words. */
  capabilities: z.looseObject({}),
  /** Log messages below are not wanted. */
  logLevel: McpLogLevel.optional(),
})
export type McpClient = z.infer<typeof McpClient>

/** What a client's session has been told besides what its id says. Written by the gateways. */
export const McpClientRecord = z.object({
  /** The session is over. */
  isOver: z.boolean().optional(),
  logLevel: McpLogLevel.optional(),
  /** The resources of whose changes it wants to hear, by the names it calls them. */
  subscriptions: z.array(z.string()).optional(),
  /**
   * By server: that the client's own process of it lists something else than it did first, which `readClientLists`
   * tells. Written by the supervisor that runs it.
   */
  ownLists: z
    .record(
      z.string(),
      z.object({
        /** It counts only while that one is present. */
        supervisor: z.string(),
        /** Names the process: the next one lists what all do. */
        process: z.string(),
        /** Grows with each change. */
        change: z.number().int(),
      }),
    )
    .optional(),
})
export type McpClientRecord = z.infer<typeof McpClientRecord>
