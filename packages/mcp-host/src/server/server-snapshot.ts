import type { Implementation, ProtocolEra, ServerCapabilities } from '@modelcontextprotocol/client'

import type { ServerConfig } from '../config/mcp-config.ts'
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
  /** When it last answered, or failed to, in epoch milliseconds. */
  readonly checkedAt: number
}

/** One of the `instances` of a server. */
export interface InstanceSnapshot extends Pick<
  ServerSnapshot,
  'state' | 'error' | 'pid' | 'restarts'
> {
  readonly weight: number
}

/** A server as it is at one moment; it does not change afterwards. */
export interface ServerSnapshot {
  readonly name: string
  readonly type: ServerConfig['type']
  readonly state: ServerState
  /** Since when, in epoch milliseconds. */
  readonly since: number
  /** Refines `starting`: its launcher, such as `npx`, may still fetch the program. */
  readonly phase?: 'installing'
  /** Why it is unavailable; while it is starting, why the attempt before failed. */
  readonly error?: ServerStartupError | ServerUnavailableError
  /** Absent until it was ready once, or failed to be; of `instances` the average. */
  readonly health?: ServerHealth
  /** The server's own info, once it is known. */
  readonly serverInfo?: Implementation
  /** The revision that is spoken with it, and its era: `modern` from 2026-07-28 on. */
  readonly protocolVersion?: string
  readonly era?: ProtocolEra
  readonly capabilities?: ServerCapabilities
  /** The server's instructions for its tools. */
  readonly instructions?: string
  /** The pid of its process, while there is one; for `instances` see there. */
  readonly pid?: number
  /** Restarts of it, or of its instances, since the host started it. */
  readonly restarts: number
  /** The instances of a server with `instances`, in their order. The server is ready when one is. */
  readonly instances?: readonly InstanceSnapshot[]
  /** This list and the others are empty unless it is ready. */
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** Caching hints of its lists. */
  readonly caching?: Readonly<Partial<Record<ListName | 'resourceTemplates', ListCaching>>>
  /** When it last announced that a list has changed, in epoch milliseconds. */
  readonly announcedAt?: Readonly<Partial<Record<ListName, number>>>
}
