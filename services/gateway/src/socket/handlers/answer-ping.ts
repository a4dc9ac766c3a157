import type { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

export function answerPing(_: SocketDeps, connection: Connection): void {
  void connection.send({ type: 'pong' })
}
