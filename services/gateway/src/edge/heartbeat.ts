import type { WebSocket } from 'ws'

/** Pings; a socket from which nothing came for two periods is dropped. Returns what ends it. */
export function startHeartbeat(socket: WebSocket, periodMs: number): () => void {
  let missed = 0
  const onLife = (): void => {
    missed = 0
  }
  socket.on('pong', onLife)
  socket.on('message', onLife)
  const timer = setInterval(() => {
    if (missed >= 2) return socket.terminate()
    missed++
    socket.ping()
  }, periodMs)
  return () => clearInterval(timer)
}
