import type { Instance } from '../endpoints/endpoint-kind.ts'
import { kindOf } from '../endpoints/index.ts'
import type { ServerConfig } from '../server-config.ts'

/** The instances of a server, in their order; `undefined` without any. */
export function instancesOf(server: ServerConfig): readonly Instance[] | undefined {
  return server.instances === undefined ? undefined : kindOf(server).instances(server)
}
