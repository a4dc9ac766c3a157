import type { ServerStatus } from '@mcp-host/client'
import { timeOf } from './time-text.ts'

const STATES = {
  ready: { mark: 'ready', text: 'Ready' },
  starting: { mark: 'runs', text: 'Starting' },
  unavailable: { mark: 'failed', text: 'Not available' },
} as const

/** The state of a server, as a mark and in words. */
export function stateOf({ state }: ServerStatus): (typeof STATES)[ServerStatus['state']] {
  return STATES[state]
}

/** What is known of a server, as names and values. */
export function readingsOf({
  since,
  phase,
  sandbox,
  instances = [],
}: ServerStatus): readonly (readonly [string, string])[] {
  const restarts = instances.reduce((sum, each) => sum + (each.restarts ?? 0), 0)
  return [
    ...(since === undefined ? [] : [['Since', timeOf(since)] as const]),
    ...(phase === undefined ? [] : [['Phase', phase] as const]),
    ...(sandbox === undefined ? [] : [['Sandbox', sandbox] as const]),
    ['Supervisors', String(instances.length)],
    ['Restarts', String(restarts)],
  ]
}
