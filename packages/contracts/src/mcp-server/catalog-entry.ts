import { z } from 'zod'
import { ServerName } from '../ids.ts'

/** What is no boolean counts as not said. */
const hint = z.boolean().optional().catch(undefined)

/** Supervisors leave out tools with deeper schemas; code that reads the catalog may call itself for each level. */
const MAX_SCHEMA_DEPTH = 256

/** Only its depth is checked: it came as JSON from a server, may be large, and every process reads it. */
const JsonObject = z
  .looseObject({})
  .refine((schema) => !isDeeper(schema, MAX_SCHEMA_DEPTH), 'nested too deeply') as z.ZodType<
  Record<string, z.core.util.JSONType>
>

/** A tool as its server lists it, with all that we do not know. */
export const CatalogTool = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: JsonObject,
  annotations: z
    .looseObject({
      readOnlyHint: hint,
      idempotentHint: hint,
      destructiveHint: hint,
      openWorldHint: hint,
    })
    .optional(),
})
export type CatalogTool = z.infer<typeof CatalogTool>

/** The same of prompts and resources. */
const CatalogPrompt = z.looseObject({ name: z.string() })
const CatalogResource = z.looseObject({ uri: z.string(), name: z.string() })
const CatalogTemplate = z.looseObject({ uriTemplate: z.string(), name: z.string() })

/** For how long and for whom a list is good, as its server says; 0 and `private` where it does not. */
const ListCaching = z.object({
  ttlMs: z.number().int().nonnegative(),
  cacheScope: z.enum(['public', 'private']),
  /** When the supervisor asked for it, in epoch milliseconds. */
  listedAt: z.number(),
})

const ServerState = z.enum(['starting', 'ready', 'unavailable', 'stopping', 'shutdown'])

/** An MCP server at one supervisor. Written by that supervisor, watched by the rest. */
export const ServerEntry = z.object({
  kind: z.literal('server'),
  server: ServerName,
  /** Bus id of the process that runs it; it counts only while that process is present. */
  supervisor: z.string(),
  state: ServerState,
  /** Since when it has been in this state, in epoch milliseconds. */
  since: z.number().optional(),
  /** Refines `starting`: `installing` while its launcher, such as `npx`, may still fetch the program. */
  phase: z.string().optional(),
  /** Why it is not ready, in words for a user; while it is starting, why the attempt before failed. */
  error: z.string().optional(),
  /** The last lines that its process wrote outside of the protocol; only beside an `error`. */
  output: z.array(z.string()).optional(),
  type: z.enum(['stdio', 'http', 'sse', 'websocket']).optional(),
  /** One for all sessions (default), or one of its own for each. */
  scope: z.enum(['shared', 'session']).optional(),
  /** On one replica at a time, or on every. */
  placement: z.enum(['one', 'every']).optional(),
  /** Of its process, on the supervisor's machine. */
  pid: z.number().int().optional(),
  /** How often it was started again. */
  restarts: z.number().int().nonnegative().optional(),
  /** Of a server that has `instances` in `mcp.json`: each, in their order. */
  instances: z
    .array(
      z.object({
        state: ServerState,
        error: z.string().optional(),
        output: z.array(z.string()).optional(),
        pid: z.number().int().optional(),
        restarts: z.number().int().nonnegative(),
        weight: z.number().positive(),
      }),
    )
    .optional(),
  /** Which protocol era it speaks. */
  era: z.string().optional(),
  /** What it can, in its own words. */
  capabilities: z.looseObject({}).optional(),
  instructions: z.string().optional(),
  tools: z.array(CatalogTool),
  prompts: z.array(CatalogPrompt).optional(),
  resources: z.array(CatalogResource).optional(),
  resourceTemplates: z.array(CatalogTemplate).optional(),
  /** Of the lists that it has. */
  caching: z
    .object({
      tools: ListCaching,
      prompts: ListCaching,
      resources: ListCaching,
      resourceTemplates: ListCaching,
    })
    .partial()
    .optional(),
  /** When it last announced that a list has changed, in epoch milliseconds. */
  announcedAt: z
    .object({ tools: z.number(), prompts: z.number(), resources: z.number() })
    .partial()
    .optional(),
  /** Where `ServerLists` are, when they are too large for a message. Filled in, and read, by the bus. */
  stored: z
    .object({ key: z.string(), bytes: z.number().int().nonnegative(), digest: z.string() })
    .optional(),
  /** Filled in by the reader; of two entries the later written has the higher. */
  revision: z.number().int().optional(),
})
export type ServerEntry = z.infer<typeof ServerEntry>

/** What a server says of itself, of any size. */
export const ServerLists = ServerEntry.pick({
  capabilities: true,
  instructions: true,
  tools: true,
  prompts: true,
  resources: true,
  resourceTemplates: true,
})

/** How one tool was used at one supervisor, since that supervisor started. */
export const ToolUse = z.object({
  calls: z.number().int().nonnegative(),
  failures: z.number().int().nonnegative(),
  /** Of the calls that ended, in milliseconds. */
  averageMs: z.number().nonnegative(),
  /** Epoch milliseconds. */
  lastUsedAt: z.number(),
})
export type ToolUse = z.infer<typeof ToolUse>

/** What the calls of one server took at one supervisor, since that supervisor started. */
export const ServerStats = z.object({
  calls: z.number().int().nonnegative(),
  errors: z.number().int().nonnegative(),
  inFlight: z.number().int().nonnegative(),
  /** Processes of their own that sessions have. */
  sessions: z.number().int().nonnegative().optional(),
  /** Of the latest calls, in milliseconds; absent before the first. */
  p50Ms: z.number().optional(),
  p95Ms: z.number().optional(),
  /** From 0 (not ready, or every recent request failed) to 1. */
  healthScore: z.number().optional(),
  /** When the server last answered, or failed to, in epoch milliseconds. */
  checkedAt: z.number().optional(),
  /** By tool, those used last. */
  toolUse: z.record(z.string(), ToolUse).optional(),
})
export type ServerStats = z.infer<typeof ServerStats>

/** A supervisor is present. Put again and again: gone soon after the process is. */
export const SupervisorEntry = z.object({
  kind: z.literal('supervisor'),
  /** Its id on the bus. */
  id: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  servers: z.record(z.string(), ServerStats),
  /** The servers of its configuration, wherever they run. Absent in entries of earlier versions. */
  configured: z.array(z.string()).optional(),
  /** What is wrong with its configuration; it goes on with the one before. */
  faults: z.string().optional(),
})
export type SupervisorEntry = z.infer<typeof SupervisorEntry>

/** The model that answers when a session names none. Written by the workers. */
export const ModelEntry = z.object({
  kind: z.literal('model'),
  provider: z.string(),
  model: z.string(),
  /** How many tokens of conversation and answer it takes at most. */
  contextWindow: z.number().int().positive().optional(),
  /** Something the user should know about it, such as that it is only a demonstration. */
  notice: z.string().optional(),
  /** What is wrong with the changed settings of the models; the worker goes on with the ones before. */
  faults: z.string().optional(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

/** A model as its provider lists it; what is absent is not known. */
export const ListedModel = z.object({
  /** The provider's name of it. */
  id: z.string(),
  /** How many tokens of conversation and answer it takes at most. */
  contextWindow: z.number().int().positive().optional(),
  /** Whether it can call tools itself. */
  tools: z.boolean().optional(),
  /** Whether it can see pictures. */
  pictures: z.boolean().optional(),
})
export type ListedModel = z.infer<typeof ListedModel>

/** A provider that may be asked. Written by the workers. */
export const ProviderEntry = z.object({
  kind: z.literal('provider'),
  provider: z.string(),
  /** `unavailable`: it did not list its models when it was asked last. */
  state: z.enum(['ready', 'unavailable']),
  /** Why, in words for a user. */
  error: z.string().optional(),
  /** Which of its models answers when only the provider is named. */
  defaultModel: z.string().optional(),
  /** Of models of which no more is known. */
  contextWindow: z.number().int().positive().optional(),
  models: z.array(ListedModel),
})
export type ProviderEntry = z.infer<typeof ProviderEntry>

/** One value of the catalog, the key-value bucket that says what the host can do right now. */
export const CatalogEntry = z.discriminatedUnion('kind', [
  ServerEntry,
  SupervisorEntry,
  ModelEntry,
  ProviderEntry,
])
export type CatalogEntry = z.infer<typeof CatalogEntry>

export function catalogKey(entry: CatalogEntry): string {
  switch (entry.kind) {
    case 'server':
      return `server.${entry.server}.${entry.supervisor}`
    case 'supervisor':
      return `supervisor.${entry.id}`
    case 'model':
      return 'model.default'
    case 'provider':
      return `provider.${entry.provider}`
    default:
      return entry satisfies never
  }
}

/** Whether a value has more levels of objects and arrays. It stops at the first place that has. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}
