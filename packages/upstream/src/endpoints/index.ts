import type { ServerConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import { http } from './http.ts'
import { sse } from './sse.ts'
import { stdio } from './stdio.ts'
import { websocket } from './websocket.ts'

const KINDS: Readonly<Record<ServerConfig['type'], EndpointKind<ServerConfig>>> = {
  stdio,
  http,
  sse,
  websocket,
}

/** The kind of a server. Its functions take configurations of that type. */
export function kindOf({ type }: Pick<ServerConfig, 'type'>): EndpointKind<ServerConfig> {
  return KINDS[type]
}

/** Whether a server of this type is a process of this machine. */
export function isProcess(type: ServerConfig['type']): boolean {
  return KINDS[type].isProcess
}
