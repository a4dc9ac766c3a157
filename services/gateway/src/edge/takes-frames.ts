import type { WebSocket } from 'ws'

/**
 * Whether frames of a socket are taken. After the close frame they are not: a client whose credential has ended may
 * ignore it. A draining gateway takes all that its clients sent before they saw it.
 */
export function takesFrames(
  { readyState, OPEN }: Pick<WebSocket, 'readyState' | 'OPEN'>,
  draining: AbortSignal,
): boolean {
  return readyState === OPEN || draining.aborted
}
