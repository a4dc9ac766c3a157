import type { MessageLimits } from '../intake/message-limits.ts'
import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'

/** Throws `ProtocolError` when the result of a tool, resource or prompt has too many content blocks. */
export function checkBlocks(
  name: string,
  result: unknown,
  { contentBlocks }: Pick<MessageLimits, 'contentBlocks'>,
  context: ErrorContext,
): void {
  const { content, contents, messages }: Readonly<Record<string, unknown>> = Object(result)
  for (const blocks of [content, contents, messages]) {
    if (!Array.isArray(blocks) || blocks.length <= contentBlocks) continue
    const message = `${name} answered with ${blocks.length} content blocks, more than ${contentBlocks}; ask for less at a time`
    throw new ProtocolError(message, undefined, context)
  }
}
