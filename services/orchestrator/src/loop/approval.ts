import type { ToolCallBlock } from '@mcp-host/contracts'
import type { ToolCall } from '@mcp-host/session-state'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

/** The arguments with which a call runs: those that the user has read, where there was a question. */
export function argumentsOf({ block, approval }: ToolCall): ToolCallBlock['arguments'] {
  const { asked } = approval ?? {}
  return asked?.type === 'approval-required' ? asked.arguments : block.arguments
}

/** Asks the user whether a call may run, with the arguments that its server will get. */
export async function askApproval(
  { bus, limits, tools }: Pick<TurnDeps, 'bus' | 'limits' | 'tools'>,
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
    arguments: await tools.sentArguments(block),
    expiresAt: bus.clock.now() + limits.approvalTimeoutMs,
  })
  await writer.folded()
}
