import type { Implementation, ProtocolEra, ServerCapabilities } from '@modelcontextprotocol/client'

import type { SandboxKind } from '../server-config.ts'
import type { ServerConfig } from '../endpoints/index.ts'
import type { ServerStartupError } from '../errors/server-startup-error.ts'
import type { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import type { ListName } from '../inventory/inventory.ts'
import type { ListCaching } from '../inventory/list-caching.ts'
import type { Prompt, Resource, ResourceTemplate } from '../inventory/listed.ts'
import type { Tool } from '../inventory/tool.ts'
import type { ServerState } from './server-state.ts'

/** The recent health of a server. */
export interface ServerHealth {
  /** From 0 (not ready, or every recent request failed) to 1. */
  readonly score: number
  /** The time of its last answer or failure, in epoch milliseconds. */
  readonly checkedAt: number
}

/** One of the `instances` of a server. */
export interface InstanceSnapshot extends Pick<
  ServerSnapshot,
  'state' | 'error' | 'pid' | 'restarts'
> {
  readonly weight: number
}

/** The state of a server at one moment. A snapshot does not change. */
export interface ServerSnapshot {
  readonly name: string
  readonly type: ServerConfig['type']
  readonly state: ServerState
  /** The time of the last change of state, in epoch milliseconds. */
  readonly since: number
  /** Refines `starting`: a launcher such as `npx` may still be fetching the program. */
  readonly phase?: 'installing'
  /** The reason why it is unavailable; while it is starting, the failure of the last attempt. */
  readonly error?: ServerStartupError | ServerUnavailableError
  /** Set while it is unavailable and its restart policy starts it again after a delay. */
  readonly isRestartPlanned?: true
  /**
   * The recent health; with `instances`, their average. Absent until the server was ready or failed for the first time.
   */
  readonly health?: ServerHealth
  /** Known after the first handshake. */
  readonly serverInfo?: Implementation
  /** The negotiated revision of the protocol. Its era is `modern` from 2026-07-28 on. */
  readonly protocolVersion?: string
  readonly era?: ProtocolEra
  readonly capabilities?: ServerCapabilities
  /** The server's instructions for its tools. */
  readonly instructions?: string
  /** How its process is separated from the host; absent for remote servers. */
  readonly sandbox?: SandboxKind
  /** The pid of its process, while there is one; absent with `instances`. */
  readonly pid?: number
  /** The number of restarts of the server or its instances since the start of the host. */
  readonly restarts: number
  /** The instances of a server with `instances`, in their order. The server is ready when one is. */
  readonly instances?: readonly InstanceSnapshot[]
  /** The tools. All lists are empty unless the server is ready. */
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** Caching hints of its lists. */
  readonly caching?: Readonly<Partial<Record<ListName | 'resourceTemplates', ListCaching>>>
  /** When it last announced a change of each list, in epoch milliseconds. */
  readonly announcedAt?: Readonly<Partial<Record<ListName, number>>>
}
