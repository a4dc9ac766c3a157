import type { RequestOptions } from '../requests/options.ts'
import type { ServerClient } from './server-client.ts'
import type { Server } from './server.ts'

/** A server with one or several instances. */
export type MemberServer = Pick<
  Server,
  'name' | 'config' | 'state' | 'lastLive' | 'snapshot' | 'start' | 'restart' | 'stop'
>

/** Sends requests and notifications to the instances of a server. */
export interface MemberClient {
  /** Resolves once no request is in flight. */
  idle(): Promise<void>
  /** Sends a request to one instance. `tool` is the tool of a call. */
  request<Options extends RequestOptions, Result>(
    options: Options,
    send: (client: ServerClient, options: Options) => Promise<Result>,
    tool?: string,
  ): Promise<Result>
  /** Sends a notification to every instance. */
  notify(send: (client: ServerClient) => Promise<void>): Promise<void>
}

export interface ServerInstance {
  readonly server: Server
  readonly client: ServerClient
}

/** The effect of a reload on the instances of a server. */
export interface Adaptation {
  /** Instances to start. */
  readonly added: readonly ServerInstance[]
  /** Unused instances to stop. */
  readonly removed: readonly ServerInstance[]
}
