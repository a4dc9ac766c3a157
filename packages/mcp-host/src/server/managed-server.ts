import type { ServerCache } from '../cache/server-cache.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { ServerClient } from './server-client.ts'
import type { Server } from './server.ts'

/** A server, be it one or several instances. */
export type MemberServer = Pick<
  Server,
  'name' | 'config' | 'state' | 'lastLive' | 'snapshot' | 'start' | 'restart' | 'stop'
>

/** The requests and notifications of a managed server. */
export type MemberClient = Pick<
  ServerClient,
  | 'idle'
  | 'callTool'
  | 'forward'
  | 'getPrompt'
  | 'readResource'
  | 'complete'
  | 'setLoggingLevel'
  | 'subscribe'
  | 'unsubscribe'
  | 'rootsChanged'
>

/** An instance of its own, with nothing before it. */
export interface ServerInstance {
  readonly server: Server
  readonly client: ServerClient
}

/** The effect of a reload on the instances of a server. */
export interface Adaptation {
  /** Not started yet. */
  readonly added: readonly ServerInstance[]
  /** Out of use, and still running. */
  readonly removed: readonly ServerInstance[]
}

/** One server of the configuration. */
export interface ManagedServer {
  readonly server: MemberServer
  readonly client: MemberClient
  readonly cache: ServerCache
  /** Each instance; of a server without instances the server itself. */
  readonly instances: readonly Server[]
  /** Takes up other instances beside those that stay the same; `undefined`: none of those is ready. */
  readonly adapt: (config: ServerConfig) => Adaptation | undefined
}
