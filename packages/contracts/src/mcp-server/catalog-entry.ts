import { z } from 'zod'
import { ServerName } from '../ids.ts'
import { JsonObject } from '../json-value.ts'
import { BlobReference } from '../model/media.ts'

/** A hint of a server; any other value than a boolean counts as absent. */
const hint = z.boolean().optional().catch(undefined)

/** A tool as its server lists it, with unknown fields. */
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

/** The caching hints of a list from its server; without them 0 and `private`. */
const ListCaching = z.object({
  ttlMs: z.number().int().nonnegative(),
  cacheScope: z.enum(['public', 'private']),
  /** Epoch milliseconds at which the supervisor asked for the list. */
  listedAt: z.number(),
})

const ServerState = z.enum(['starting', 'ready', 'unavailable', 'stopping', 'shutdown'])

/** An MCP server at one supervisor, which writes the entry. */
export const ServerEntry = z.object({
  kind: z.literal('server'),
  server: ServerName,
  /** Bus id of the supervisor; the entry counts only while that process is present. */
  supervisor: z.string(),
  state: ServerState,
  /** Epoch milliseconds of the change to this state. */
  since: z.number().optional(),
  /** Refines `starting` until an attempt fails: `installing` while its launcher, such as `npx`, may fetch the program. */
  phase: z.string().optional(),
  /** Why it is not ready, in words for a user; while it is starting, why the last attempt failed. */
  error: z.string().optional(),
  /** Whether it is unavailable only until its next start, which is planned. */
  isRestartPlanned: z.boolean().optional(),
  /** The last lines that its process wrote outside of the protocol; only with an `error`. */
  output: z.array(z.string()).optional(),
  /** The kind of server, such as `stdio` or `http`. */
  type: z.string().optional(),
  /**
   * `shared`, the default: all sessions share a process; `session`: each has a dedicated one; `user`: each user has a
   * connection.
   */
  scope: z.enum(['shared', 'session', 'user']).optional(),
  /** Whether one supervisor at a time runs it, or every one. */
  placement: z.enum(['one', 'every']).optional(),
  /** How arguments are checked before they are sent; absent: `lenient`. */
  validation: z.enum(['strict', 'lenient', 'off']).optional(),
  /** How its process is separated from the host: `bwrap`, `none`; absent for remote servers. */
  sandbox: z.string().optional(),
  /** The pid of its process, at the supervisor. */
  pid: z.number().int().optional(),
  restarts: z.number().int().nonnegative().optional(),
  /** The `instances` of the server in `mcp.json`, in the same order. */
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
  /** The protocol era that it speaks. */
  era: z.string().optional(),
  /** The capabilities that the server declares. */
  capabilities: z.looseObject({}).optional(),
  instructions: z.string().optional(),
  tools: z.array(CatalogTool),
  prompts: z.array(z.looseObject({ name: z.string() })).optional(),
  resources: z.array(z.looseObject({ uri: z.string(), name: z.string() })).optional(),
  resourceTemplates: z
    .array(z.looseObject({ uriTemplate: z.string(), name: z.string() }))
    .optional(),
  caching: z
    .object({
      tools: ListCaching,
      prompts: ListCaching,
      resources: ListCaching,
      resourceTemplates: ListCaching,
    })
    .partial()
    .optional(),
  /** Epoch milliseconds, by the broker's clock, at which it last announced a change of a list. */
  announcedAt: z
    .object({ tools: z.number(), prompts: z.number(), resources: z.number() })
    .partial()
    .optional(),
  /** The object with the `ServerLists`, when they are too large for a message. Set and read by the bus. */
  stored: BlobReference.optional(),
  /** Set by the reader; a later entry has a higher one. */
  revision: z.number().int().optional(),
})
export type ServerEntry = z.infer<typeof ServerEntry>

/** The description of a server by itself, of any size. */
export const ServerLists = ServerEntry.pick({
  capabilities: true,
  instructions: true,
  tools: true,
  prompts: true,
  resources: true,
  resourceTemplates: true,
})
export type ServerLists = z.infer<typeof ServerLists>

/** The use of one tool at one supervisor since that supervisor started. */
export const ToolUse = z.object({
  calls: z.number().int().nonnegative(),
  failures: z.number().int().nonnegative(),
  /** The average duration of ended calls. */
  averageMs: z.number().nonnegative(),
  /** Epoch milliseconds. */
  lastUsedAt: z.number(),
})
export type ToolUse = z.infer<typeof ToolUse>

/** Statistics of the calls of one server at one supervisor since that supervisor started. */
export const ServerStats = z.object({
  calls: z.number().int().nonnegative(),
  errors: z.number().int().nonnegative(),
  inFlight: z.number().int().nonnegative(),
  /** The number of dedicated processes, or of connections of users. */
  sessions: z.number().int().nonnegative().optional(),
  /** The logins of users at the server: how many are usable, and how many are needed again. */
  logins: z
    .object({ usable: z.number().int().nonnegative(), needed: z.number().int().nonnegative() })
    .optional(),
  /** Latencies of the latest calls; absent before the first call. */
  p50Ms: z.number().optional(),
  p95Ms: z.number().optional(),
  /** From 0 (not ready, or every recent request failed) to 1. */
  healthScore: z.number().optional(),
  /** Epoch milliseconds at which the server last answered, or failed to. */
  checkedAt: z.number().optional(),
  /** The use of the last used tools, by name. */
  toolUse: z.record(z.string(), ToolUse).optional(),
})
export type ServerStats = z.infer<typeof ServerStats>

/** The presence of a supervisor. Renewed periodically, so that it expires soon after the process has ended. */
const SupervisorEntry = z.object({
  kind: z.literal('supervisor'),
  /** Its id on the bus. */
  id: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  servers: z.record(z.string(), ServerStats),
  /** The servers of its configuration, also those that run at other supervisors. Absent in entries of earlier versions. */
  configured: z.array(z.string()).optional(),
  /** The fault of its changed configuration; it keeps the last valid one. */
  faults: z.string().optional(),
  /** Warnings about its configuration, such as unknown fields, with their places and remedies. Absent in entries of earlier versions. */
  warnings: z.array(z.string()).optional(),
})

/** The default model. Written by the workers. */
export const ModelEntry = z.object({
  kind: z.literal('model'),
  provider: z.string(),
  model: z.string(),
  /** The limit of tokens of a conversation and its answer. */
  contextWindow: z.number().int().positive().optional(),
  /** A notice for users, such as that the model is only a demonstration. */
  notice: z.string().optional(),
  /** The fault of the changed settings of the models; the worker keeps the last valid ones. */
  faults: z.string().optional(),
  /** The present providers; entries of others are of earlier settings. Absent in entries of earlier versions. */
  providers: z.array(z.string()).optional(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

/** A model as its provider lists it; absent fields are unknown. */
export const ListedModel = z.object({
  /** The name that the provider gives it. */
  id: z.string(),
  /** The limit of tokens of a conversation and its answer. */
  contextWindow: z.number().int().positive().optional(),
  /** Whether it can call tools. */
  tools: z.boolean().optional(),
  /** Whether it reads pictures. */
  pictures: z.boolean().optional(),
})
export type ListedModel = z.infer<typeof ListedModel>

/** A configured provider. Written by the workers. */
export const ProviderEntry = z.object({
  kind: z.literal('provider'),
  provider: z.string(),
  /** `unavailable`: its last list of models could not be read. */
  state: z.enum(['ready', 'unavailable']),
  /** Why it is unavailable, in words for a user. */
  error: z.string().optional(),
  /** The model for requests that name only the provider. */
  defaultModel: z.string().optional(),
  /** The context window of models that list none. */
  contextWindow: z.number().int().positive().optional(),
  models: z.array(ListedModel),
})
export type ProviderEntry = z.infer<typeof ProviderEntry>

/** Damage to stored sessions. Written by an orchestrator, and absent while there is none. */
export const DamageEntry = z.object({
  kind: z.literal('damage'),
  /** How many sessions have lost entries of their logs. */
  sessions: z.number().int().positive(),
})
export type DamageEntry = z.infer<typeof DamageEntry>

/** A changed file of settings that a process cannot use, so that its previous contents stay, or has just taken over. */
export const FileFaultEntry = z.object({
  kind: z.literal('file-fault'),
  /** The setting that names the file, such as `POLICY_CONFIG`. */
  setting: z.string(),
  /** Bus id of the process. */
  process: z.string(),
  /** Name of the file, without its folder. */
  file: z.string(),
  /** The faults with their places and remedies, one a line; empty when the file is taken over. */
  faults: z.string(),
})
export type FileFaultEntry = z.infer<typeof FileFaultEntry>

/** In a sentence for an operator. */
export function describeDamage({ sessions }: DamageEntry): string {
  const which = sessions === 1 ? '1 session has' : `${sessions} sessions have`
  return `${which} lost entries, since data of nats-server was damaged; what is left can be read: npm run doctor`
}

/** A value of the catalog, the key-value bucket with the present servers, supervisors and models. */
export const CatalogEntry = z.discriminatedUnion('kind', [
  ServerEntry,
  SupervisorEntry,
  ModelEntry,
  ProviderEntry,
  DamageEntry,
  FileFaultEntry,
])
export type CatalogEntry = z.infer<typeof CatalogEntry>

/** The entries of the present providers. */
export function presentProviders(entries: Iterable<CatalogEntry>): ProviderEntry[] {
  const all = Array.from(entries)
  const names = all.find((entry) => entry.kind === 'model')?.providers
  return all.filter(
    (entry): entry is ProviderEntry =>
      entry.kind === 'provider' && (names === undefined || names.includes(entry.provider)),
  )
}

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
    case 'damage':
      return 'damage.sessions'
    case 'file-fault':
      return `file.${entry.setting}.${entry.process}`
    default:
      return entry satisfies never
  }
}
