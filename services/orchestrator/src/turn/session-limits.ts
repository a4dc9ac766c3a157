import type { SessionState } from '@mcp-host/session-state'
import type { Limits } from './turn.ts'

/** The limits of one turn: those of the host, with the session's settings and the calls left to the session. */
export function sessionLimits<L extends Pick<Limits, 'maxToolCalls' | 'maxSessionToolCalls'>>(
  limits: L,
  { settings, toolCalls, turns }: Pick<SessionState, 'settings' | 'toolCalls' | 'turns'>,
  input: number,
): L {
  const own = settings.maxToolCalls ?? limits.maxToolCalls
  if (limits.maxSessionToolCalls === 0) return { ...limits, maxToolCalls: own }
  const generations = turns.get(input)?.generations ?? []
  const made = generations.reduce((sum, { calls }) => sum + calls.size, 0)
  const left = Math.max(0, limits.maxSessionToolCalls - (toolCalls - made))
  return { ...limits, maxToolCalls: Math.min(own, left) }
}
