import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

export function answerPing(_: SocketDeps, connection: Connection): FrameOutcome {
  void connection.send({ type: 'pong' })
  return 'ok'
}
