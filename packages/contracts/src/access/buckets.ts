import type { ServiceParticipant } from './participants.ts'

/** Which services use a bucket on the broker. Permissions on the bus are made from it. */
export interface BucketAccess {
  /** Description of the bucket in the documentation. */
  readonly purpose: string
  /** The lifetime of its values. Default: no limit. */
  readonly maxAgeMs?: number
  /** The room for its values, beyond which the oldest are evicted. Default: no limit. */
  readonly maxBytes?: number
  readonly readers: readonly ServiceParticipant[]
  /** The keys that a service writes, as patterns: `*` is one token, `>` the rest. A reader that writes is in both lists. */
  readonly writers: Readonly<Partial<Record<ServiceParticipant, readonly string[]>>>
}

const DAY_MS = 86_400_000
const MIB = 1_048_576
const ALL = ['>']

/** Every key-value bucket. A test compares the list with the sources. */
export const BUCKETS = {
  ACCOUNTS: {
    purpose: 'accounts of users, with hashes of their passwords',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  APIKEYS: {
    purpose: 'API keys, by their hashes',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  APPROVALS: {
    purpose: 'tool calls that wait for the decision of a user',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  AUTHKEYS: {
    purpose: 'keys by which the authorization server signs tokens and cookies',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  CATALOG: {
    purpose:
      'MCP servers with their tools, supervisors, models, damage to sessions, faulty files of settings',
    readers: ['gateway', 'orchestrator', 'mcp-supervisor'],
    writers: {
      gateway: ['file.*.*'],
      'mcp-supervisor': ['server.*.*', 'supervisor.*'],
      'llm-worker': ['model.*', 'provider.*'],
      orchestrator: ['damage.*', 'file.*.*'],
    },
  },
  CONSENTS: {
    purpose: 'consents of users for clients of the authorization server',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  INVITATIONS: {
    purpose: 'hashes of single-use links for a password',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  LOGINS: {
    purpose: 'logins of browsers',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  LOGINSTARTS: {
    purpose: 'logins of browsers that are under way at an identity provider',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  LOG_HEAD: {
    purpose: 'the last sequence of the session logs',
    readers: ['gateway', 'orchestrator', 'llm-worker', 'mcp-supervisor'],
    writers: {
      gateway: ['head'],
      orchestrator: ['head'],
      'llm-worker': ['head'],
      'mcp-supervisor': ['head'],
    },
  },
  MCPCLIENTS: {
    purpose: 'sessions of MCP clients',
    maxAgeMs: 7 * DAY_MS,
    readers: ['gateway', 'mcp-supervisor'],
    writers: { gateway: ALL, 'mcp-supervisor': ALL },
  },
  OAUTH: {
    purpose: 'clients, codes and grants of the authorization server',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  OAUTHCLIENTS: {
    purpose: 'registrations of clients that no user has allowed',
    maxBytes: 32 * MIB,
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  OAUTHSTARTS: {
    purpose: 'authorizations that wait for a user',
    maxBytes: 64 * MIB,
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  OWN: {
    purpose: 'leases: which process runs what',
    readers: ['orchestrator', 'llm-worker', 'mcp-supervisor'],
    writers: {
      orchestrator: ['janitor', 'turn.*.*'],
      'llm-worker': ['llm.>'],
      'mcp-supervisor': ['server.*', 'session.*.*', 'login.*.*.*'],
    },
  },
  REVOCATIONS: {
    purpose: 'grants whose tokens are refused',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  SECRETS: {
    purpose: 'secrets that gateways share',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  MAINTENANCE: {
    purpose: 'maintenance that an operator has announced',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  SERVER_PAUSES: {
    purpose: 'pauses of MCP servers with whose calls supervisors died',
    readers: ['gateway', 'orchestrator', 'mcp-supervisor'],
    writers: { gateway: ALL, orchestrator: ALL, 'mcp-supervisor': ALL },
  },
  SESSIONS: {
    purpose: 'records of chat sessions: owner, title, settings',
    readers: ['gateway', 'orchestrator'],
    writers: { orchestrator: ALL },
  },
  SHARES: {
    purpose: 'links by which sessions are read, with hashes of their secrets',
    maxAgeMs: 366 * DAY_MS,
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  SNAPSHOTS: {
    purpose: 'folded session logs',
    maxAgeMs: 30 * DAY_MS,
    readers: ['orchestrator'],
    writers: { orchestrator: ALL },
  },
  TICKETS: {
    purpose: 'single-use tickets for sockets',
    readers: ['gateway'],
    writers: { gateway: ALL },
  },
  TOOL_PINS: {
    purpose: 'definitions of tools that were seen first, or that an admin has accepted',
    readers: ['gateway', 'orchestrator'],
    writers: { gateway: ALL },
  },
  UPSTREAM_CLIENTS: {
    purpose: 'registrations of this host at authorization servers of MCP servers, sealed',
    readers: ['mcp-supervisor'],
    writers: { 'mcp-supervisor': ALL },
  },
  UPSTREAM_LOGINS: {
    purpose: 'logins of users at MCP servers, with sealed tokens',
    readers: ['mcp-supervisor'],
    writers: { 'mcp-supervisor': ALL },
  },
  UPSTREAM_STARTS: {
    purpose: 'logins at MCP servers that are under way, sealed',
    maxBytes: 16 * MIB,
    readers: ['mcp-supervisor'],
    writers: { 'mcp-supervisor': ALL },
  },
} as const satisfies Record<string, BucketAccess>

export type BucketName = keyof typeof BUCKETS

/** The services that store values which are too large for a message, and read them. */
export const BLOB_USERS = [
  'gateway',
  'orchestrator',
  'llm-worker',
  'mcp-supervisor',
] as const satisfies readonly ServiceParticipant[]

/** The services that append to the audit log. The commands for operators read it, and gateways for auditors. */
export const AUDIT_WRITERS = [
  'gateway',
  'orchestrator',
  'mcp-supervisor',
] as const satisfies readonly ServiceParticipant[]

/** The services that count in the counters of all processes. */
export const COUNTER_USERS = [
  'gateway',
  'orchestrator',
] as const satisfies readonly ServiceParticipant[]
