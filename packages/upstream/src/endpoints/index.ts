import type { EndpointKind } from './endpoint-kind.ts'
import { builtIn } from './built-in.ts'
import { http } from './http.ts'
import { inProcess } from './in-process.ts'
import { sse } from './sse.ts'
import { stdio } from './stdio.ts'
import { websocket } from './websocket.ts'

const KINDS = { stdio, http, sse, websocket, 'in-process': inProcess, 'built-in': builtIn }

type ConfigOf<Kind> = Kind extends EndpointKind<infer Config> ? Config : never

/** The configuration of a server of any kind. */
export type ServerConfig = ConfigOf<(typeof KINDS)[keyof typeof KINDS]>

/** The kind of a server. Its functions take configurations of that type. */
export function kindOf({ type }: Pick<ServerConfig, 'type'>): EndpointKind<ServerConfig> {
  return KINDS[type]
}

/** Whether a server of this type is a process of this machine. */
export function isProcess(type: ServerConfig['type']): boolean {
  return KINDS[type].isProcess
}
