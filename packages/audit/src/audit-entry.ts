import type { Entrance } from '@mcp-host/contracts'
import { z } from 'zod'

/** What an entry is about. Readers take any name: a later version may write more. */
export type AuditAction =
  | 'tool-started'
  | 'tool-finished'
  | 'resource-read'
  | 'prompt-requested'
  | 'login'
  | 'login-refused'
  | 'logout'
  | 'request-refused'
  | 'key-created'
  | 'key-revoked'
  | 'share-created'
  | 'share-revoked'
  | 'share-read'
  | 'session-deleted'
  | 'foreign-session-used'
  | 'keys-rotated'
  | 'account-created'
  | 'account-changed'
  | 'account-invited'
  | 'client-registered'
  | 'client-allowed'
  | 'client-withdrawn'
  | 'token-reused'
  | 'policy-changed'
  | 'tool-accepted'
  | 'tools-forgotten'
  | 'server-restarted'
  | 'server-connected'
  | 'server-disconnected'
  | 'server-login-over'
  | 'servers-reloaded'
  | 'maintenance-begun'
  | 'maintenance-ended'
  | 'approval-asked'
  | 'approval-answered'
  | typeof CHECKPOINT

/** Signs off all entries of its writer before it. */
export const CHECKPOINT = 'checkpoint'

/** The `detail` of a checkpoint. */
export const CheckpointDetail = z.object({
  /** Entries of the writer before it. */
  count: z.number(),
  /** Hash of the last of them. */
  hash: z.string(),
})
export type CheckpointDetail = z.infer<typeof CheckpointDetail>

/** An entry of the audit log, as it is stored. */
export const AuditEntry = z.object({
  seq: z.number().int().positive().describe('Counts the entries of a writer from 1.'),
  prev: z
    .string()
    .describe(
      "SHA-256 of the writer's previous entry as it is stored; of the writer's id in its first entry.",
    ),
  time: z.iso.datetime().describe('When it happened.'),
  action: z.string().describe('What happened, as `tool-started`.'),
  principal: z.string().describe('Id of the principal; `system` for the host itself.'),
  roles: z.array(z.string()).optional().describe('Of the principal.'),
  entrance: z.string().optional().describe('Such as `ws` or `mcp`; absent where it is unknown.'),
  session: z.string().optional().describe('Of a chat, or of an MCP client.'),
  server: z.string().optional().describe('The MCP server.'),
  tool: z.string().optional().describe('Its name at the server.'),
  call: z.string().optional().describe('Id of the call: both of its entries have it.'),
  arguments: z
    .json()
    .optional()
    .describe('Redacted; absent where only hashes are kept, and where they are too large.'),
  argumentsHash: z
    .string()
    .optional()
    .describe('SHA-256 of the canonical JSON of the redacted arguments.'),
  argumentsLength: z
    .number()
    .optional()
    .describe('Length of that JSON, where the arguments are too large to be kept.'),
  outcome: z.string().optional().describe('How it ended, as `ok` or `denied`.'),
  durationMs: z.number().optional().describe('How long it took, in milliseconds.'),
  traceId: z.string().optional().describe('Of the trace of the request.'),
  detail: z.record(z.string(), z.json()).optional().describe('More, by the action.'),
  dropped: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('Entries of the writer that were lost before this one.'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** An entry as its author tells it; the writer adds the rest. */
export interface AuditRecord {
  readonly action: AuditAction
  readonly principal: string
  readonly roles?: readonly string[] | undefined
  /** One of `Entrance`, or that of an envelope, which may be of a later version. */
  readonly entrance?: Entrance | (string & {}) | undefined
  readonly session?: string | undefined
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly call?: string | undefined
  /** As they came: they are redacted before they are stored. */
  readonly arguments?: unknown
  readonly outcome?: string | undefined
  readonly durationMs?: number | undefined
  readonly traceId?: string | undefined
  readonly detail?: Readonly<Record<string, unknown>> | undefined
  /**
   * The record of the start of the same action. While it waits to be stored in the background, a single entry tells both,
   * with the arguments of the start: most calls are that short.
   */
  readonly start?: AuditRecord
}

/** The audit log, for code whose actions are recorded. */
export interface AuditLog {
  /**
   * Records an action. `undefined`: it is stored in the background. Where entries are required it resolves once the
   * entry is stored, and rejects with `unavailable` when that takes too long: then the action must not happen.
   */
  record(record: AuditRecord): Promise<void> | undefined
}
