import type { Envelope, SessionDetails, SessionRecord } from '@mcp-host/contracts'
import { usesServer } from '../turn/session-servers.ts'
import type { Limits, Tools, TurnPolicy } from '../turn/turn.ts'

/** The limit for the names of tools. A reply must fit into a message. */
const MAX_NAMES = 1_000

export interface SessionDetailsDeps {
  readonly tools: Pick<Tools, 'current'>
  readonly policy: Pick<TurnPolicy, 'isHidden'>
  readonly limits: Pick<Limits, 'maxToolCalls' | 'maxSessionToolCalls'>
}

/** A record with the session's limits, and the tools that it and its reader may use now. */
export function sessionDetails(
  { tools, policy, limits }: SessionDetailsDeps,
  record: SessionRecord,
  reader: Envelope,
): SessionDetails {
  const usable = tools
    .current()
    .filter((tool) => usesServer(record, tool.server) && !policy.isHidden(reader, tool))
  const { maxToolCalls, maxSessionToolCalls } = limits
  return {
    ...record,
    toolCallCount: record.toolCallCount ?? 0,
    limits: {
      maxToolCalls: record.maxToolCalls ?? maxToolCalls,
      ...(maxSessionToolCalls === 0 ? {} : { maxSessionToolCalls }),
    },
    capabilities: {
      toolCount: usable.length,
      tools: usable.slice(0, MAX_NAMES).map(({ server, tool }) => ({ server, tool })),
    },
  }
}
