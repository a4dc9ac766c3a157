import type { ToolCall } from '@mcp-host/session-state'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

/** Asks the user whether a call may run. */
export async function askApproval(
  { bus, limits }: Pick<TurnDeps, 'bus' | 'limits'>,
  { writer }: Pick<ClaimedTurn, 'writer'>,
  { block }: ToolCall,
): Promise<void> {
  const { id: call, server = '', tool = '' } = block
  await writer.append({
    type: 'approval-required',
    call,
    server,
    tool,
    id: crypto.randomUUID(),
    message: `May ${server}.${tool} be called?`,
    arguments: block.arguments,
    expiresAt: bus.clock.now() + limits.approvalTimeoutMs,
  })
  await writer.folded()
}
