import type { WebSocket } from 'ws'

/** Pings a socket, and drops it when nothing arrived for two periods. Returns a function that ends the pings. */
export function startHeartbeat(socket: WebSocket, periodMs: number): () => void {
  let missed = 0
  const onLife = (): void => {
    missed = 0
  }
  socket.on('pong', onLife)
  socket.on('message', onLife)
  const timer = setInterval(() => {
    // A socket that is closing has a time limit of its own, in which the client can see why.
    if (socket.readyState !== socket.OPEN) return
    if (missed >= 2) return socket.terminate()
    missed++
    socket.ping()
  }, periodMs)
  return () => clearInterval(timer)
}
