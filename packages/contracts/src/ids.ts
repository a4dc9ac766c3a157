import { z } from 'zod'

const token = /^[A-Za-z0-9_-]+$/

/** The id of a session. Unguessable: anybody who knows it may read and write the session. */
export const SessionId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,64}$/, 'must be 16 to 64 letters, digits, "-" or "_"')
  .brand<'SessionId'>()
export type SessionId = z.infer<typeof SessionId>

/** `<session>-<fence>`: the fence of the append that started the generation makes it unique. */
export const GenerationId = z.string().regex(token).brand<'GenerationId'>()
export type GenerationId = z.infer<typeof GenerationId>

/** `<generation>-<index>`: the n-th tool call that one generation asked for. */
export const ToolCallId = z.string().regex(token).brand<'ToolCallId'>()
export type ToolCallId = z.infer<typeof ToolCallId>

/** A server's name in `mcp.json`; it is a subject token and a catalog key. */
export const ServerName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"')
  .brand<'ServerName'>()
export type ServerName = z.infer<typeof ServerName>

/**
 * The built-in servers, with what the names of their tools begin with. One that has its own name in `mcp.json` lists its
 * tools under these names.
 */
export const BUILT_IN_SERVERS: ReadonlyMap<string, string> = new Map([
  ['files', 'fs_'],
  ['llm', 'llm_'],
  ['web', 'web_'],
])

/** Names of the host itself, which no server of `mcp.json` may have but the built-in one with that name. */
export const RESERVED_SERVER_NAMES = ['llm', 'sessions', 'prompts', 'agent', 'files', 'result']

export function newSessionId(): SessionId {
  return crypto.randomUUID().replaceAll('-', '') as SessionId
}

export function generationId(session: SessionId, fence: number): GenerationId {
  return `${session}-${fence}` as GenerationId
}

/** The fence of a generation id; cursors contain it instead of the whole id. */
export function generationFence(generation: GenerationId): number {
  return Number(generation.slice(generation.lastIndexOf('-') + 1))
}

export function toolCallId(generation: GenerationId, index: number): ToolCallId {
  return `${generation}-${index}` as ToolCallId
}

/** The number of log subjects over which sessions are spread. It can never change: logs never move. */
export const SHARDS = 64

/** The session id's hash, mod 64. */
export function shardOf(session: SessionId): string {
  return String(hashText(session) % SHARDS)
}

/** FNV-1a over UTF-16 units, as an unsigned integer of 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** Tells several logins of a user at one server apart. */
export const AccountLabel = z.string().trim().min(1).max(60)
/** The label of the first login of a user at a server, unless the user says another one. */
export const DEFAULT_LABEL = 'default'
