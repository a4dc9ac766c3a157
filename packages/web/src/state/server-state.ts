import type { ServerStatus } from '@mcp-host/client'
import { countOf } from '@mcp-host/client'
import { timeOf } from './time-text.ts'

/** A longer reason is on the page of its server. */
const MAX_REASON = 160

export interface ShownState {
  readonly mark: 'ready' | 'runs' | 'failed'
  readonly text: string
}

/** Whether a server does not work, also while it is tried again. */
export function isBroken({ state, error }: ServerStatus): boolean {
  return state !== 'ready' && (state === 'unavailable' || error !== undefined)
}

/** Whether the host starts a broken server again by itself. */
function isStartedAgain({ state, isRestartPlanned = false }: ServerStatus): boolean {
  return state === 'starting' || isRestartPlanned
}

/** The words before and after the names of broken servers, whose pages have the reasons. */
export function missingWords(servers: readonly ServerStatus[]): {
  readonly before: string
  readonly after: string
} {
  const { length } = servers
  const again = servers.filter(isStartedAgain).length
  const which = again < length ? `${again} of them` : length === 1 ? 'it' : 'them'
  const tries = again === 0 ? '' : `The host keeps trying to start ${which}. `
  return {
    before: `${countOf(length, 'server')} ${length === 1 ? 'is' : 'are'} not available`,
    after: `${tries}The others work.`,
  }
}

/** The state of a server, as a mark and in words. */
export function stateOf(server: ServerStatus): ShownState {
  if (server.state === 'ready') return { mark: 'ready', text: 'Ready' }
  if (isBroken(server)) {
    return { mark: 'failed', text: isStartedAgain(server) ? 'Starting again' : 'Not available' }
  }
  return { mark: 'runs', text: server.phase === 'installing' ? 'Installing' : 'Starting' }
}

/** The beginning of the reason why a server does not work, without the name of the server. */
export function reasonOf({ server, error }: ServerStatus): string | undefined {
  const reason = error?.replace(`the server "${server}" `, '')
  if (reason === undefined || reason.length <= MAX_REASON) return reason
  return `${reason.slice(0, MAX_REASON).toWellFormed()}…`
}

/** The number of tools, in words. */
export function toolCount(count: number): string {
  return countOf(count, 'tool')
}

/** What is known of a server, as names and values. */
export function readingsOf({
  since,
  sandbox,
  instances = [],
  calls,
  failures,
  p50Ms,
  p95Ms,
  logins,
}: ServerStatus): readonly (readonly [string, string])[] {
  const restarts = instances.reduce((sum, each) => sum + (each.restarts ?? 0), 0)
  const readings = [
    ['Since', since && timeOf(since)],
    ['Sandbox', sandbox],
    ['Supervisors', instances.length],
    ['Restarts', restarts],
    ['Logins', logins && loginsText(logins)],
    ['Calls', calls],
    ['Failed', failures],
    ['50 % within', durationText(p50Ms)],
    ['95 % within', durationText(p95Ms)],
  ] as const
  return readings.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
}

function loginsText({ usable, needed }: NonNullable<ServerStatus['logins']>): string {
  return needed === 0 ? String(usable) : `${usable}, ${needed} needed again`
}

function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`
  return ms < 1 ? 'under 1 ms' : `${Math.round(ms)} ms`
}
