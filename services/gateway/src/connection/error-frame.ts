import type { Down, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Tells a client that its frame was refused. `within`: the part of it that the error's field is in. */
export function errorFrame(
  error: unknown,
  {
    sessionId,
    messageId,
    within,
  }: {
    readonly sessionId: SessionId
    readonly messageId?: string | undefined
    readonly within?: string
  },
): Extract<Down, { type: 'error' }> {
  const known = BusError.from(error)
  const { field, ...info } = known.toInfo()
  return {
    type: 'error',
    payload: {
      ...info,
      ...(field === undefined
        ? {}
        : { field: within === undefined ? field : `${within}.${field}` }),
      // A retry would meet the same conflict.
      retryable: known.retryable && known.code !== 'conflict',
      ...(messageId === undefined ? {} : { messageId }),
      sessionId,
    },
  }
}
