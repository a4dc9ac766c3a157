import type { Connection } from '../connection.ts'
import type { SocketDeps } from '../socket.ts'

export function answerPing(_: SocketDeps, connection: Connection): void {
  void connection.send({ type: 'pong' })
}
