import type { RequestOptions } from '../requests/options.ts'
import type { InstanceClient } from './instance-client.ts'
import type { Instance } from './instance.ts'

/** A server with one or several instances. */
export type Lifecycle = Pick<
  Instance,
  'name' | 'config' | 'state' | 'lastLive' | 'snapshot' | 'start' | 'restart' | 'stop'
>

/** Sends requests and notifications to the instances of a server. */
export interface RequestSender {
  /** Resolves once no request is in flight. */
  idle(): Promise<void>
  /** Sends a request to one instance. `tool` is the tool of a call. */
  request<Options extends RequestOptions, Result>(
    options: Options,
    send: (client: InstanceClient, options: Options) => Promise<Result>,
    tool?: string,
  ): Promise<Result>
  /** Sends a notification to every instance. */
  notify(send: (client: InstanceClient) => Promise<void>): Promise<void>
}

export interface RunningInstance {
  readonly server: Instance
  readonly client: InstanceClient
}

/** The effect of a reload on the instances of a server. */
export interface Adaptation {
  /** Instances to start. */
  readonly added: readonly RunningInstance[]
  /** Unused instances to stop. */
  readonly removed: readonly RunningInstance[]
}
