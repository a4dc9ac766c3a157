import { isDeepStrictEqual } from 'node:util'

import type { WeightedConfig } from '../endpoints/endpoint-kind.ts'
import { kindOf, type ServerConfig } from '../endpoints/index.ts'

/** The instances of a server, in their order; `undefined` without any. */
export function instancesOf(
  server: ServerConfig,
): readonly WeightedConfig<ServerConfig>[] | undefined {
  return kindOf(server).instances?.(server)
}

/** Whether both configurations have instances and are otherwise equal. */
export function differInInstances(one: ServerConfig, other: ServerConfig): boolean {
  if (instancesOf(one) === undefined || instancesOf(other) === undefined) return false
  const common = { instances: [], balance: undefined }
  return isDeepStrictEqual({ ...one, ...common }, { ...other, ...common })
}
