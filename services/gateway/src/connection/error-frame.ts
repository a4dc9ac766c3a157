import type { Down, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The frame that tells a client of a refused frame. `within`: the part of the frame that has the error's field. */
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
